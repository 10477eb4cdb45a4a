import Foundation
import ThreadedNotifications

/// An object that observes with a method, and logs when it is deallocated.
final class MethodObserver {
    private let log: Locked<[String]>
    private let whenHandled: () -> Void

    init(_ log: Locked<[String]>, whenHandled: @escaping () -> Void = {}) {
        self.log = log
        self.whenHandled = whenHandled
    }

    deinit { log.withLock { $0.append("deallocated") } }

    func handle(_ notification: Notification) {
        whenHandled()
        log.withLock { $0.append("handled") }
    }
}
