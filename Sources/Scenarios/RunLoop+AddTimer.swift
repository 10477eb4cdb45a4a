internal import Foundation

extension RunLoop {
    /// Adds a timer that is already due.
    func addTimer(_ mode: RunLoop.Mode = .default, _ fire: @escaping @Sendable () -> Void) {
        add(Timer(fire: Date(), interval: 0, repeats: false) { _ in fire() }, forMode: mode)
    }
}
