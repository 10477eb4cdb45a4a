internal import DeliveryRecording
internal import Foundation

/// Listing 4's program and its remedies: the program of each process of the scenario `observer-lifetime`.
///
/// The listing uses `sleep(1)` to make it likely that the observer is released while its handler runs. Here gates
/// guarantee it.
package struct LifetimeProgram: Sendable {
    package static let subcommand = "observer-lifetime-child"
    static let beginMessage = "handle notification begin"
    static let endMessage = "handle notification end"
    static let releaseMessage = "Observer dealloc"

    let capture: ObserverCapture
    private let timeout: Duration
    private let handlerBegan = Gate("the handler")
    private let observerReleased = Gate("the observer's release")
    private let postReturned = Gate("the poster")

    /// Runs on the main thread until the handler has ended and the observer was released, or until the process crashes.
    ///
    /// - Parameter arguments: how the block holds the observer, and the path of the file to record to.
    package static func run(_ arguments: some Collection<String>) throws {
        let words = Array(arguments)
        guard words.count == 2, let capture = ObserverCapture(rawValue: words[0]) else { return }
        // A child process that may crash leaves no core dump.
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        try ScenarioRecording.start(to: words[1])
        try LifetimeProgram(capture: capture, timeout: .seconds(10)).perform()
    }

    private func perform() throws {
        ScenarioRecording.record(.processStart, message: capture.rawValue)
        var observer: LifetimeObserver? = LifetimeObserver(of: self)
        Thread.detachNewThread { [weak delegate = observer] in
            if capture == .delegation {
                delegate?.handleNotification()
            } else {
                NotificationCenter.default.post(name: .test, object: nil)
            }
            postReturned.open()
        }
        try withExtendedLifetime(observer) {
            if capture == .oneThread {
                try handlerBegan.runLoop(timeout: timeout)
            } else {
                try handlerBegan.wait(timeout: timeout)
            }
        }
        observer = nil
        observerReleased.open()
        try postReturned.wait(timeout: timeout)
    }

    /// The body of listing 4's handler, up to its last line. It waits until the main thread has released its last
    /// reference to the observer, unless it runs on the main thread.
    func handle() {
        ScenarioRecording.log(Self.beginMessage)
        handlerBegan.open()
        // If the observer is not released in time, the expectations report that.
        if capture != .oneThread { try? observerReleased.wait(timeout: timeout) }
        ScenarioRecording.log(Self.endMessage)
    }
}
