internal import Foundation
internal import ThreadedNotifications

/// One queue being tried in one process: enqueues, runs the run loop, and notes what happens.
///
/// Threads: the main thread's, whose run loop it runs; `notes`, and `queue` where the queue allows it, are for every thread.
@MainActor
final class QueueTrial {
    /// A run loop mode that is not among the common ones.
    nonisolated static let modal = RunLoop.Mode("Modal")
    /// How long what another thread does may take. It only bounds a hang.
    nonisolated static let limit = Duration.seconds(50)
    private nonisolated static let turn: TimeInterval = 0.005

    let maker: any QueueMaker
    let notes: TrialNotes
    let center = NotificationCenter()
    /// The main thread's, posting to `center`.
    let queue: any QueueUnderTest
    /// How many events there are if the promise is kept.
    private let expectedCount: Int
    /// How many turns of the run loop what is promised has to happen in.
    private let turns: Int
    private var actions: [String: @MainActor () -> Void] = [:]
    private var observers: [(center: NotificationCenter, token: any NSObjectProtocol)] = []
    private var timers: [Timer] = []
    private var sources: [(port: SignalPort, receiver: SourceReceiver)] = []

    /// Has a queue keep a promise, or not.
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
        // So that no run loop returns for want of something to wait for.
        for mode in [.default, Self.modal] {
            add(Timer(fire: Date(timeIntervalSinceNow: 3600), interval: 0, repeats: false) { _ in }, mode)
        }
        observe(center)
    }

    /// Leaves the run loop as it was before, and lets go of what refers to the trial.
    private func end() {
        for observer in observers { observer.center.removeObserver(observer.token) }
        for timer in timers { timer.invalidate() }
        for source in sources { source.port.invalidate() }
        (observers, timers, sources, actions) = ([], [], [], [:])
    }

    // MARK: Notifications

    /// Notes what is posted to a center, and does what was asked for then.
    func observe(_ center: NotificationCenter) {
        let token = center.addObserver(forName: nil, object: nil, queue: nil) { [notes, weak self] notification in
            let word = notification.userInfo?["word"] as? String ?? "what was not enqueued"
            guard Thread.isMainThread else { return notes.note("\(word) on another thread") }
            notes.note(word)
            MainActor.assumeIsolated { self?.actions[word]?() }
        }
        observers.append((center, token))
    }

    /// What is done in the handler when this is posted.
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

    /// Runs the run loop until what is promised has happened, or had every opportunity to; and then somewhat longer, for what
    /// is not promised.
    func run(_ mode: RunLoop.Mode = .default) {
        let deadline = ContinuousClock.now + .seconds(Double(turns) * Self.turn)
        var made = 0
        // Time alone would not do: on a busy machine it may pass without a turn.
        while notes.events.count < expectedCount, made < turns || ContinuousClock.now < deadline {
            run(mode, forAtMost: Self.turn)
            made += 1
        }
        for _ in 0..<3 { run(mode, forAtMost: Self.turn) }
    }

    /// Runs the run loop until something happens.
    func waitForEvent() {
        let (count, deadline) = (notes.events.count, ContinuousClock.now + Self.limit)
        while notes.events.count == count {
            let left = ContinuousClock.now.duration(to: deadline) / .seconds(1)
            guard left > 0 else { return }
            run(.default, forAtMost: left)
        }
    }

    private func run(_ mode: RunLoop.Mode, forAtMost turn: TimeInterval) {
        _ = RunLoop.current.run(mode: mode, before: Date(timeIntervalSinceNow: turn))
    }

    /// Makes one pass through the run loop, which does not wait.
    func pass(_ mode: RunLoop.Mode = .default) {
        _ = RunLoop.current.run(mode: mode, before: .distantPast)
    }

    /// A source of the run loop whose signal is noted by this word.
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

    /// A timer that is due, and noted by this word.
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

/// Called when a source was signalled.
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
