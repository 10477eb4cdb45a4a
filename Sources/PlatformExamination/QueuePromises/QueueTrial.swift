internal import Foundation
internal import ThreadedNotifications

/// A trial of one queue in one process: enqueues, runs the run loop and notes events.
///
/// Threads: the main thread; it runs that thread's run loop. `notes` may be used on any thread, and `queue` if the
/// queue allows it.
@MainActor
final class QueueTrial {
    /// A run loop mode that is not a common mode.
    nonisolated static let modal = RunLoop.Mode("Modal")
    /// The longest wait for another thread. It only bounds a hang.
    nonisolated static let timeout = Duration.seconds(50)
    private nonisolated static let turn: TimeInterval = 0.005

    let maker: any QueueMaker
    let notes: TrialNotes
    let center = NotificationCenter()
    /// A queue of the main thread that posts to `center`.
    let queue: any QueueUnderTest
    /// The number of events if the promise is kept.
    private let expectedCount: Int
    /// The number of run loop passes in which the promised events have to happen.
    private let turns: Int
    private var actions: [String: @MainActor () -> Void] = [:]
    private var observers: [(center: NotificationCenter, token: any NSObjectProtocol)] = []
    private var timers: [Timer] = []
    private var sources: [(port: SignalPort, receiver: SourceReceiver)] = []

    /// Tries a promise with a queue.
    static func perform(_ promise: QueuePromise, _ maker: any QueueMaker, notes: TrialNotes, turns: Int = 50) throws {
        let trial = QueueTrial(promise, maker, notes: notes, turns: turns)
        defer { trial.end() }
        try promise.body(trial)
    }

    private init(_ promise: QueuePromise, _ maker: any QueueMaker, notes: TrialNotes, turns: Int) {
        self.maker = maker
        self.notes = notes
        self.turns = turns
        queue = maker.makeQueue(for: center)
        expectedCount = promise.expected.count
        // A distant timer in each mode, so that the run loop waits instead of returning at once.
        for mode in [.default, Self.modal] {
            add(Timer(fire: Date(timeIntervalSinceNow: 3600), interval: 0, repeats: false) { _ in }, mode)
        }
        observe(center)
    }

    /// Restores the run loop and breaks the retain cycles with the trial.
    private func end() {
        for observer in observers { observer.center.removeObserver(observer.token) }
        for timer in timers { timer.invalidate() }
        for source in sources { source.port.invalidate() }
        (observers, timers, sources, actions) = ([], [], [], [:])
    }

    // MARK: Notifications

    /// Notes each notification that is posted to a center, and calls the action for it.
    func observe(_ center: NotificationCenter) {
        let token = center.addObserver(forName: nil, object: nil, queue: nil) { [notes, weak self] notification in
            let word = notification.userInfo?["word"] as? String ?? "a notification that was not enqueued"
            guard Thread.isMainThread else { return notes.note("\(word) on another thread") }
            notes.note(word)
            MainActor.assumeIsolated { self?.actions[word]?() }
        }
        observers.append((center, token))
    }

    /// Sets the action that the handler calls when this notification is posted.
    func whenPosted(_ word: String, _ action: @escaping @MainActor () -> Void) {
        actions[word] = action
    }

    /// Enqueues to `queue`.
    func enqueue(
        _ word: String, _ style: NotificationQueue.PostingStyle, name: String = "Test", sender: Any? = nil,
        coalescing mask: NotificationQueue.NotificationCoalescing = [], modes: [RunLoop.Mode]? = nil
    ) {
        queue.enqueue(word, style, name: name, sender: sender, coalescing: mask, modes: modes)
    }

    // MARK: The run loop

    /// Runs the run loop until the promised events have happened, or there was enough time for them. Then runs it three
    /// more times, so that unexpected events show up.
    func run(_ mode: RunLoop.Mode = .default) {
        let deadline = ContinuousClock.now + .seconds(Double(turns) * Self.turn)
        var passes = 0
        // A time timeout alone is not enough: on a busy machine it may pass without a run of the run loop.
        while notes.events.count < expectedCount, passes < turns || ContinuousClock.now < deadline {
            run(mode, forAtMost: Self.turn)
            passes += 1
        }
        for _ in 0..<3 { run(mode, forAtMost: Self.turn) }
    }

    /// Runs the run loop until there is another event.
    func waitForEvent() {
        let (count, deadline) = (notes.events.count, ContinuousClock.now + Self.timeout)
        while notes.events.count == count {
            let left = ContinuousClock.now.duration(to: deadline) / .seconds(1)
            guard left > 0 else { return }
            run(.default, forAtMost: left)
        }
    }

    private func run(_ mode: RunLoop.Mode, forAtMost turn: TimeInterval) {
        _ = RunLoop.current.run(mode: mode, before: Date(timeIntervalSinceNow: turn))
    }

    /// Makes one pass through the run loop without waiting.
    func pass(_ mode: RunLoop.Mode = .default) {
        _ = RunLoop.current.run(mode: mode, before: .distantPast)
    }

    /// Adds a source to the run loop that notes this word when it is signalled.
    func source(_ word: String, then action: @escaping @MainActor () -> Void = {}) -> SignalPort {
        let receiver = SourceReceiver { [notes] in
            notes.note(word)
            action()
        }
        let port = SignalPort()
        sources.append((port, receiver))
        port.setDelegate(receiver)
        RunLoop.current.add(port, forMode: .default)
        return port
    }

    /// Adds a due timer that notes this word.
    func dueTimer(
        _ word: String, mode: RunLoop.Mode = .default, then action: @escaping @MainActor @Sendable () -> Void = {}
    ) {
        let timer = Timer(fire: Date(timeIntervalSinceNow: -1), interval: 0, repeats: false) { [notes] _ in
            notes.note(word)
            MainActor.assumeIsolated { action() }
        }
        add(timer, mode)
    }

    private func add(_ timer: Timer, _ mode: RunLoop.Mode) {
        timers.append(timer)
        RunLoop.current.add(timer, forMode: mode)
    }
}

/// A port delegate that calls a block for each signal.
@MainActor
private final class SourceReceiver: NSObject, PortDelegate {
    private let action: @MainActor () -> Void

    init(_ action: @escaping @MainActor () -> Void) {
        self.action = action
    }

    nonisolated func handle(_ message: PortMessage) {
        MainActor.assumeIsolated { action() }
    }
}
