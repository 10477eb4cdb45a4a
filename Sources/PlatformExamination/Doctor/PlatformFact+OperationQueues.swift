internal import Foundation
internal import Scenarios
internal import ThreadedNotifications

/// F10 to F12: observers that handle in an operation queue. This package's counterpart is an observer on a run loop
/// thread.
extension PlatformFact {
    static let operationQueues: [PlatformFact] = [
        PlatformFact(
            number: "F10", area: "addObserver(queue:)", expected: "asynchronous",
            questions: [
                TrialQuestion(
                    "post-waits-for-the-queue", "a post does not wait for other work of the queue",
                    expected: TrialExpectation(events: ["post returns", "the other work ends"]),
                    foundation: { notes in
                        let (queue, center) = (OperationQueue(), NotificationCenter())
                        let token = center.addObserver(
                            forName: TestNotification.foundationName, object: nil, queue: queue
                        ) { _ in }
                        try postBesideWork(
                            notes, within: TrialTimeouts.foundation, begin: { queue.addOperation($0) },
                            post: { center.post(name: TestNotification.foundationName, object: nil) })
                        center.removeObserver(token)
                    },
                    ours: .body { notes in
                        let (worker, center) = (RunLoopThread(name: "worker"), ThreadedNotificationCenter())
                        try worker.start()
                        let token = center.addObserver(forName: TestNotification.foundationName, on: worker) { _ in }
                        try postBesideWork(
                            notes, within: TrialTimeouts.ours, begin: { try worker.perform($0) },
                            post: { center.post(name: TestNotification.foundationName) })
                        token.cancel()
                    })
            ]),
        PlatformFact(
            number: "F11", area: "addObserver(queue:)", expected: "no deadlock",
            questions: [
                TrialQuestion(
                    "main-waits-for-the-poster", "main waits for a thread that posts to an observer on main",
                    expected: TrialExpectation(events: ["post returns", "handled on main"]),
                    foundation: { notes in
                        let center = NotificationCenter()
                        let token = center.addObserver(
                            forName: TestNotification.foundationName, object: nil, queue: .main
                        ) { _ in notes.note("handled on main") }
                        TrialTimeouts.endProcess(notes, saying: "both still blocked")
                        try waitForPoster(notes) {
                            center.post(name: TestNotification.foundationName, object: nil)
                        }
                        center.removeObserver(token)
                    },
                    ours: .body { notes in
                        let center = ThreadedNotificationCenter()
                        let token = center.addObserver(forName: TestNotification.foundationName, on: .main) { _ in
                            notes.note("handled on main")
                        }
                        try waitForPoster(notes) { center.post(name: TestNotification.foundationName) }
                        token.cancel()
                    }),
                TrialQuestion(
                    "handlers-post-to-each-other", "handlers of two queues post to each other's queue",
                    expected: TrialExpectation(events: ["A on the first", "B on the second", "C on the first"]),
                    foundation: { notes in
                        let center = NotificationCenter()
                        let (first, second) = (OperationQueue(), OperationQueue())
                        let isOver = Gate("the last handler")
                        let tokens = [("A", first, "B"), ("B", second, "C"), ("C", first, nil)].map {
                            name, queue, next in
                            let position = queue === first ? "first" : "second"
                            return center.addObserver(forName: Notification.Name(name), object: nil, queue: queue) {
                                _ in
                                notes.note("\(name) on the \(position)")
                                guard let next else { return isOver.open() }
                                center.post(name: Notification.Name(next), object: nil)
                            }
                        }
                        TrialTimeouts.endProcess(notes, saying: "all still blocked")
                        center.post(name: Notification.Name("A"), object: nil)
                        try isOver.wait(timeout: TrialTimeouts.ours)
                        for token in tokens { center.removeObserver(token) }
                    },
                    ours: .body { notes in
                        let center = ThreadedNotificationCenter()
                        let (first, second) = (RunLoopThread(name: "first"), RunLoopThread(name: "second"))
                        try first.start()
                        try second.start()
                        let isOver = Gate("the last handler")
                        let tokens = [("A", first, "B"), ("B", second, "C"), ("C", first, nil)].map {
                            name, thread, next in
                            center.addObserver(forName: Notification.Name(name), on: thread) { _ in
                                notes.note("\(name) on the \(ThreadIdentity.current.name ?? "wrong one")")
                                guard let next else { return isOver.open() }
                                center.post(name: Notification.Name(next))
                            }
                        }
                        center.post(name: Notification.Name("A"))
                        try isOver.wait(timeout: TrialTimeouts.ours)
                        for token in tokens { token.cancel() }
                    }),
            ]),
        PlatformFact(
            number: "F12", area: "addObserver(queue:)", expected: "an observer retains its queue or thread",
            questions: [
                TrialQuestion(
                    "queue-is-released", "an observer is called though nothing else retains its queue",
                    expected: TrialExpectation(events: ["handled"]),
                    foundation: { notes in
                        let (center, isHandled) = (NotificationCenter(), Gate("the handler"))
                        let token = center.addObserver(
                            forName: TestNotification.foundationName, object: nil, queue: OperationQueue()
                        ) { _ in isHandled.open() }
                        center.post(name: TestNotification.foundationName, object: nil)
                        noteWhether(isHandled, within: TrialTimeouts.foundation, notes)
                        center.removeObserver(token)
                    },
                    ours: .body { notes in
                        let (center, isHandled) = (ThreadedNotificationCenter(), Gate("the handler"))
                        let token = center.addObserver(
                            forName: TestNotification.foundationName, on: try startedThread()
                        ) { _ in isHandled.open() }
                        center.post(name: TestNotification.foundationName)
                        noteWhether(isHandled, within: TrialTimeouts.ours, notes)
                        token.cancel()
                    })
            ]),
    ]

    private static func startedThread() throws -> RunLoopThread {
        let thread = RunLoopThread(name: "worker")
        try thread.start()
        return thread
    }

    /// Posts while other work in the handling queue waits for that post to return, at most for the timeout.
    @MainActor
    private static func postBesideWork(
        _ notes: TrialNotes, within timeout: Duration, begin: (@escaping @Sendable () -> Void) throws -> Void,
        post: () -> Void
    ) throws {
        let (hasBegun, hasReturned, hasEnded) = (Gate("the work"), Gate("the post"), Gate("the work"))
        try begin {
            hasBegun.open()
            try? hasReturned.wait(timeout: timeout)
            notes.note("the other work ends")
            hasEnded.open()
        }
        try hasBegun.wait(timeout: TrialTimeouts.ours)
        let start = ContinuousClock.now
        post()
        notes.note("post returns", detail: "after \(start.millisecondsAgo) ms")
        hasReturned.open()
        try hasEnded.wait(timeout: TrialTimeouts.ours)
    }

    /// Waits on the main thread for another thread's post to return, and only then runs the main run loop.
    @MainActor
    private static func waitForPoster(_ notes: TrialNotes, _ post: @escaping @Sendable () -> Void) throws {
        let hasReturned = Gate("the poster")
        Thread.detachNewThread {
            post()
            notes.note("post returns")
            hasReturned.open()
        }
        try hasReturned.wait(timeout: TrialTimeouts.ours)
        TrialTimeouts.runMain(until: { notes.events.count > 1 }, timeout: TrialTimeouts.ours)
    }

    private static func noteWhether(_ isHandled: Gate, within timeout: Duration, _ notes: TrialNotes) {
        do throws(ScenarioError) {
            try isHandled.wait(timeout: timeout)
            notes.note("handled")
        } catch {
            notes.note("not handled", detail: "in \(timeout.components.seconds) s")
        }
    }
}
