internal import DeliveryDiagnostics
internal import DeliveryRecording
internal import Foundation
internal import PostingQueues
internal import TerminalText
internal import ThreadedNotifications

/// The document's two examples of coalescing. Many draw operations cause one flush of the display server, and typing
/// several characters updates the displayed size once.
struct CoalescingScenario: Scenario {
    let name = "coalescing"
    let summary = "500 draws flush once; the size is shown as typing stops"

    private static let flush = Notification.Name("FlushTheServer")
    private static let changeSize = Notification.Name("ChangeTheDisplayedSize")
    private static let draws = 500
    /// Some of its characters take two bytes in UTF-8.
    private static let text = "Grüße"

    private static let begins = "the callout begins"
    private static let ends = "drew \(draws) times, the callout ends"

    private static func flushed(_ operations: Int) -> String { "flushed: \(operations) draw operations" }

    private static func typed(_ character: Character) -> String { "typed \(character)" }

    private static func displayed(_ bytes: Int) -> String { "displayed: \(bytes) bytes" }

    func run(in environment: ScenarioEnvironment) throws {
        let center = ThreadedNotificationCenter()
        let queue = PostingQueue.default(for: center)
        ScenarioRecording.logCurrentThread()
        try draw(queue, center, in: environment)
        try type(queue, center, in: environment)
    }

    /// "When many clients draw on the window buffer during a callout from the run loop, it is expensive to flush the
    /// buffer to the display server after every draw operation."
    private func draw(
        _ queue: PostingQueue, _ center: ThreadedNotificationCenter, in environment: ScenarioEnvironment
    ) throws {
        let (operations, isFlushed) = (Locked(0), Gate("the flush"))
        let token = center.addObserver(forName: Self.flush, object: "window", on: .current) { _ in
            ScenarioRecording.log(Self.flushed(operations.withLock { $0 }))
            isFlushed.open()
        }
        RunLoop.main.perform {
            ScenarioRecording.log(Self.begins)
            for _ in 1...Self.draws {
                operations.withLock { $0 += 1 }
                // "Each draw... method enqueues some notification such as “FlushTheServer” with coalescing on name and
                // object specified and with a posting style of NSPostASAP."
                queue.enqueue(
                    Notification(name: Self.flush, object: "window"), postingStyle: .asap,
                    coalesceMask: [.onName, .onSender])
            }
            ScenarioRecording.log(Self.ends)
        }
        try isFlushed.runLoop(timeout: environment.timeout)
        token.cancel()
    }

    /// "A typical example … occurs when the user types text, and the program displays the size of the text in bytes
    /// somewhere."
    private func type(
        _ queue: PostingQueue, _ center: ThreadedNotificationCenter, in environment: ScenarioEnvironment
    ) throws {
        let (text, isDisplayed) = (Locked(""), Gate("the size"))
        let token = center.addObserver(forName: Self.changeSize, object: "field", on: .current) { _ in
            ScenarioRecording.log(Self.displayed(text.withLock { $0.utf8.count }))
            isDisplayed.open()
        }
        /// Types each of the keys in a callout of its own.
        @Sendable func type(_ keys: Substring) {
            guard let key = keys.first else { return }
            RunLoop.main.addTimer {
                text.withLock { $0.append(key) }
                ScenarioRecording.log(Self.typed(key))
                // "The program queues a notification, such as “ChangeTheDisplayedSize,” with coalescing turned on and a
                // posting style of NSPostWhenIdle after each character typed."
                queue.enqueue(Notification(name: Self.changeSize, object: "field"), postingStyle: .whenIdle)
                type(keys.dropFirst())
            }
        }
        type(Self.text[...])
        try isDisplayed.runLoop(timeout: environment.timeout)
        token.cancel()
    }

    func report(on run: RecordedRun) -> String? {
        let rows = [(Self.flush, "asap"), (Self.changeSize, "whenIdle")].map { name, style in
            [name.rawValue, style]
                + [DeliveryStage.enqueue, .coalesce, .post].map { "\(run.all($0, name.rawValue).count)" }
        }
        return Table.text([["notification", "style", "enqueued", "coalesced", "posted"]] + rows)
    }

    func expectations(of run: RecordedRun, options: ScenarioOptions) -> [Expectation] {
        let (begin, end) = (run.first(Self.begins), run.first(Self.ends))
        let drawn = run.all(.enqueue, Self.flush.rawValue)
        let flushes = run.all(.post, Self.flush.rawValue)
        let sizes = run.all(.post, Self.changeSize.rawValue)
        let typing = run.all(beginning: "typed ")
        let size = Self.text.utf8.count
        return [
            run.expectOrder(
                "\(Self.draws) draws in one callout, each enqueues a flush", begin, drawn.earliest, drawn.latest, end,
                and: drawn.count == Self.draws),
            run.expectOrder(
                "flushed once, after the callout, by the last post", end, flushes.first,
                and: flushes.count == 1 && flushes[0].post == drawn.last?.post),
            run.expectOrder("the flush covers all draws", run.first(Self.flushed(Self.draws))),
            Expectation(
                "each key enqueues the size",
                holds: typing.map(\.message) == Self.text.map(Self.typed)
                    && run.all(.enqueue, Self.changeSize.rawValue).count == Self.text.count,
                otherwise: "the keys are \(typing.compactMap(\.message))"),
            run.expectOrder(
                "the size changed once, after the typing stopped", typing.last, sizes.first, and: sizes.count == 1),
            run.expectOrder(
                "the size is in bytes: \(size) for \(Self.text.count) characters", run.first(Self.displayed(size))),
        ]
    }
}
