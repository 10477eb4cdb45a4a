internal import Foundation
internal import ThreadedNotifications

/// Listing 4's observer: it registers in its initializer and removes itself in its deinitializer. Its block holds it as
/// `ObserverCapture` says. With `.delegation` it is not registered: the poster calls it.
final class LifetimeObserver {
    /// Written by the handler's last line, as `self.i = 10` in the listing. This access fails if the observer was
    /// released meanwhile.
    private var i = 0
    /// Makes the object so large that the C library, by default, unmaps its memory as soon as it is freed. An access
    /// after that then always ends the process; a write to a small freed object might succeed.
    private var memory = InlineArray<1_048_576, UInt8>(repeating: 0)
    private let program: LifetimeProgram
    private var token: (any NSObjectProtocol)?
    private var redirecting: RedirectingObserver?

    // Safety: set once, on the main thread, before the posting thread starts.
    private nonisolated(unsafe) static var stable: LifetimeObserver?

    init(of program: LifetimeProgram) {
        self.program = program
        switch program.capture {
        case .unsafe:
            register { [unowned(unsafe) self] _ in
                program.handle()
                i = 10
            }
        case .unowned:
            register { [unowned self] _ in
                program.handle()
                i = 10
            }
        case .weak:
            register { [weak self] _ in self?.handleNotification() }
        case .stable:
            Self.stable = self
            register { _ in self.handleNotification() }
        case .delegation:
            break
        case .oneThread:
            // A post may be under way when the observer is released, so the block holds it weakly.
            let redirecting = RedirectingObserver { [weak self] _ in self?.handleNotification() }
            self.redirecting = redirecting
            redirecting.setUpThreadingSupport()
            register { redirecting.processNotification($0) }
        }
    }

    deinit {
        if let token { NotificationCenter.default.removeObserver(token) }
        ScenarioRecording.log(LifetimeProgram.releaseMessage)
    }

    func handleNotification() {
        program.handle()
        i = 10
    }

    private func register(_ block: @escaping @Sendable (Notification) -> Void) {
        token = NotificationCenter.default.addObserver(forName: .test, object: nil, queue: nil, using: block)
    }
}

// Safety: not proved; the scenario demonstrates the defect. The gates order all accesses except the last one of the
// captures `unsafe` and `unowned`, and that access ends the process.
extension LifetimeObserver: @unchecked Sendable {}
