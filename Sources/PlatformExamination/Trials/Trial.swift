internal import Foundation
internal import ThreadedNotifications

/// A question that is put to one side in this process.
///
/// Threads: the main thread; a trial runs that thread's run loop. `nonisolated` members may be used on any thread, and
/// `queue` where the queue allows it.
@MainActor
final class Trial {
    /// A run loop mode that is not a common mode.
    nonisolated static let modal = RunLoop.Mode("Modal")
    /// The longest wait for an event that happens on a working system. It only ends a hang.
    nonisolated static let timeout = Duration.seconds(50)
    private nonisolated static let pass: TimeInterval = 0.005

    nonisolated let side: Question.Side
    nonisolated let center: CenterUnderTest
    nonisolated let makeQueue: QueueUnderTest.Maker
    /// A queue of the main thread. Each notification that it posts is an event.
    nonisolated let queue: QueueUnderTest
    /// The center that `queue` posts to.
    nonisolated let queueCenter = NotificationCenter()
    private var expectedCount = 0
    private let passes: Int
    private nonisolated let noted = Locked<[String]>([])
    private nonisolated let echo: @Sendable (String) -> Void
    private var actions: [String: @MainActor () -> Void] = [:]
    /// Restore the run loop and the centers.
    private var cleanups: [@MainActor () -> Void] = []

    /// - Parameters:
    ///   - makeQueue: makes the queues of the trial. Nil means the side's.
    ///   - passes: the number of run loop passes in which the expected events have to happen.
    ///   - echo: receives the line of each event at once, because the process may crash before it ends.
    init(
        _ side: Question.Side, makeQueue: QueueUnderTest.Maker? = nil, passes: Int = 50,
        echo: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.side = side
        self.makeQueue = makeQueue ?? QueueUnderTest.maker(side)
        self.passes = passes
        self.echo = echo
        center = CenterUnderTest(side)
        queue = self.makeQueue(queueCenter)
    }

    /// Runs the run loop until the expected events have happened, and returns the lines of the events. Call this once.
    func perform(_ question: Question) throws -> [String] {
        defer {
            for cleanup in cleanups { cleanup() }
            (cleanups, actions) = ([], [:])
        }
        expectedCount = question.expected[side]?.count ?? 0
        // A distant timer in each mode, so that the run loop waits instead of returning at once.
        for mode in [.default, Self.modal] { addTimer(after: .seconds(3600), mode: mode) {} }
        noteNotifications(of: queueCenter)
        try question.bodies[side]?(self)
        run()
        return events
    }

    // MARK: Events

    /// The events so far: their words, and a detail after a tab.
    nonisolated var events: [String] { noted.withLock { $0 } }

    /// - Parameter detail: a number, a duration or a message that differs from run to run.
    nonisolated func note(_ words: String, detail: String? = nil) {
        let line = words + (detail.map { "\t\($0)" } ?? "")
        noted.withLock { $0.append(line) }
        echo(line)
    }

    /// Notes an event when a semaphore is signalled, or another one if that takes longer than `patience`.
    nonisolated func note(_ words: String, when semaphore: MonotonicSemaphore, otherwise other: String) {
        if semaphore.wait(until: .after(patience)) { return note(words) }
        note(other, detail: "after \(patience.components.seconds) s")
    }

    /// Notes each notification that is posted to a center, and calls the action for it.
    func noteNotifications(of center: NotificationCenter) {
        let token = center.addObserver(forName: nil, object: nil, queue: nil) { [weak self] notification in
            let word = notification.userInfo?["word"] as? String ?? "a notification that was not enqueued"
            guard Thread.isMainThread else { return self?.note("\(word) on another thread") ?? () }
            self?.note(word)
            MainActor.assumeIsolated { self?.actions[word]?() }
        }
        cleanups.append { center.removeObserver(token) }
    }

    /// Sets the action that the handler calls when the notification with this word is posted.
    func whenPosted(_ word: String, _ action: @escaping @MainActor () -> Void) { actions[word] = action }

    // MARK: Sources

    /// Adds a timer that fires once. By default it is due already.
    func addTimer(
        after delay: Duration = .seconds(-1), mode: RunLoop.Mode = .default,
        _ fire: @escaping @MainActor @Sendable () -> Void
    ) {
        let due = Date(timeIntervalSinceNow: delay / .seconds(1))
        let timer = Timer(fire: due, interval: 0, repeats: false) { _ in MainActor.assumeIsolated { fire() } }
        cleanups.append { timer.invalidate() }
        RunLoop.current.add(timer, forMode: mode)
    }

    /// Adds a port to the main run loop. `received` handles each message.
    func add<SomePort: Port>(_ port: SomePort, _ received: @escaping @Sendable () -> Void) -> SomePort {
        let receiver = PortReceiver(received)
        cleanups.append {
            // Foundation's ports crash when they are invalidated in a run loop.
            withExtendedLifetime(receiver) { (port as? SignalPort)?.invalidate() }
        }
        port.setDelegate(receiver)
        RunLoop.main.add(port, forMode: .common)
        return port
    }

    /// Adds a port to the main run loop that notes this word when it is signalled.
    func addSource(_ word: String, then action: @escaping @MainActor @Sendable () -> Void = {}) -> SignalPort {
        add(SignalPort()) { [weak self] in
            self?.note(word)
            MainActor.assumeIsolated { action() }
        }
    }

    // MARK: The run loop

    /// Runs the run loop until the expected events have happened, or there was enough time for them. Then runs it three
    /// more times, so that unexpected events show up.
    func run(_ mode: RunLoop.Mode = .default) {
        let deadline = SuspendingClock.now + .seconds(Double(passes) * Self.pass)
        var made = 0
        // A deadline alone is not enough: on a busy machine it may pass without a pass of the run loop.
        while events.count < expectedCount, made < passes || SuspendingClock.now < deadline {
            pass(mode, forAtMost: Self.pass)
            made += 1
        }
        for _ in 0..<3 { pass(mode, forAtMost: Self.pass) }
    }

    /// Runs the run loop until a condition holds or the timeout has passed.
    ///
    /// - Parameter pass: the longest time between two checks.
    func run(
        until condition: () -> Bool, timeout: Duration = Trial.timeout, pass: Duration = .milliseconds(5)
    ) {
        let deadline = SuspendingClock.now + timeout
        while !condition(), SuspendingClock.now < deadline { self.pass(forAtMost: pass / .seconds(1)) }
    }

    func runUntilNextEvent(pass: Duration = .milliseconds(5)) {
        let count = events.count
        run(until: { events.count > count }, pass: pass)
    }

    /// Makes one pass through the run loop. By default it does not wait.
    func pass(_ mode: RunLoop.Mode = .default, forAtMost seconds: TimeInterval = -1) {
        _ = RunLoop.current.run(mode: mode, before: Date(timeIntervalSinceNow: seconds))
    }

    // MARK: Time

    /// The longest wait for an event that does not happen if the side breaks the claim.
    nonisolated var patience: Duration { side == .foundation ? .seconds(1) : Self.timeout }

    /// Notes an event and ends the process normally after a timeout, for calls that may block the main thread.
    nonisolated func endProcess(after timeout: Duration? = nil, noting words: String) {
        let timeout = timeout ?? patience
        DispatchQueue.global().asyncAfter(deadline: .now() + timeout / .seconds(1)) {
            self.note(words, detail: "after \(timeout.components.seconds) s")
            _exit(0)
        }
    }

    nonisolated static func time(since start: SuspendingClock.Instant) -> String {
        "after \(Int((start.duration(to: .now) / .milliseconds(1)).rounded())) ms"
    }

    /// Waits until the main thread sleeps, as the kernel reports it. Call this on another thread.
    nonisolated static func waitUntilMainThreadSleeps() {
        let deadline = SuspendingClock.now + timeout
        let file = "/proc/self/task/\(ProcessInfo.processInfo.processIdentifier)/stat"
        while SuspendingClock.now < deadline {
            // The state follows the thread's name, which is in parentheses.
            let state = (try? String(contentsOfFile: file, encoding: .utf8))?.split(separator: ")").last
            if state?.hasPrefix(" S ") == true { return }
        }
    }
}

/// A port delegate that calls a block for each message.
private final class PortReceiver: NSObject, PortDelegate {
    private let received: @Sendable () -> Void

    init(_ received: @escaping @Sendable () -> Void) { self.received = received }

    func handle(_ message: PortMessage) { received() }
}

extension MonotonicSemaphore {
    /// - Parameter event: the event that is waited for, in the error.
    func wait(for event: String, timeout: Duration = Trial.timeout) throws(TimedOut) {
        guard wait(until: .after(timeout)) else { throw TimedOut(description: "timed out waiting for \(event)") }
    }

    struct TimedOut: Error, CustomStringConvertible {
        var description: String
    }
}
