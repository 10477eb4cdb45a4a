internal import DeliveryRecording
internal import Foundation
internal import PostingQueues
internal import ThreadedNotifications

/// The document's *Posting Notifications Asynchronously*: when a queue posts with each posting style, relative to the
/// run loop's other work.
struct PostingStylesScenario: Scenario {
    let name = "posting-styles"
    let summary = "now, asap, whenIdle among timers and blocks"

    /// The kinds of work in the run loop.
    private enum Kind: String {
        case now
        /// Given to `RunLoop.perform`.
        case block
        case asap
        /// A block that another thread performs on the main thread.
        case mailbox
        case mainQueue = "main queue"
        case timer
        case whenIdle
    }

    private static let styles: [Kind] = [.now, .asap, .whenIdle]
    private static let begins = "the callout begins"
    private static let ends = "the callout ends"
    private static let returned = "enqueued: now 1, posted"

    private static func ready(_ kind: Kind) -> String { "ready: \(kind.rawValue)" }

    private static func performed(_ kind: Kind) -> String { "performed: \(kind.rawValue)" }

    func run(in environment: ScenarioEnvironment) throws {
        let timeout = environment.timeout
        let center = ThreadedNotificationCenter()
        let queue = PostingQueue.default(for: center)
        let isOver = Gate("the last notification")

        ScenarioRecording.logCurrentThread()
        // The observers handle on the posting thread, so that each post is handled immediately.
        let tokens = Self.styles.map { style in
            center.addObserver(
                forName: .init(style.rawValue), on: .postingThread, transform: { $0.object as? Int },
                using: { number in
                    ScenarioRecording.log("posted: \(style.rawValue) \(number)")
                    switch (style, number) {
                    case (.whenIdle, 1): Self.scheduleTimer()
                    case (.whenIdle, _): isOver.open()
                    default: break
                    }
                })
        }
        RunLoop.main.addTimer { Self.callout(queue, timeout: timeout) }
        try isOver.runLoop(timeout: timeout)
        for token in tokens { token.cancel() }
    }

    /// Runs in one callout of the run loop: enqueues notifications of each style, and starts other work.
    private static func callout(_ queue: PostingQueue, timeout: Duration) {
        func enqueue(_ style: Kind, _ number: Int, _ postingStyle: NotificationQueue.PostingStyle) {
            let report = queue.enqueue(
                Notification(name: .init(style.rawValue), object: number), postingStyle: postingStyle,
                coalesceMask: [])
            ScenarioRecording.log("enqueued: \(style.rawValue) \(number), \(report)")
        }
        ScenarioRecording.log(begins)
        for number in 1...2 { enqueue(.whenIdle, number, .whenIdle) }
        for number in 1...2 { enqueue(.asap, number, .asap) }

        scheduleTimer()
        ScenarioRecording.log(ready(.mainQueue))
        DispatchQueue.main.async { ScenarioRecording.log(performed(.mainQueue)) }
        // Another thread hands over this block: on this thread it would run at once, because nothing else waits yet.
        let isHandedOver = Gate("the block for the mailbox")
        ScenarioRecording.log(ready(.mailbox))
        Thread.detachNewThread {
            // The main thread's mailbox accepts blocks as long as the process runs.
            try? MainThread.main.perform { ScenarioRecording.log(performed(.mailbox)) }
            isHandedOver.open()
        }
        // If the gate does not open in time, the expectations report that the block was not performed.
        try? isHandedOver.wait(timeout: timeout)
        ScenarioRecording.log(ready(.block))
        RunLoop.main.perform { ScenarioRecording.log(performed(.block)) }

        enqueue(.now, 1, .now)
        ScenarioRecording.log(ends)
    }

    private static func scheduleTimer() {
        ScenarioRecording.log(ready(.timer))
        RunLoop.main.addTimer { ScenarioRecording.log(performed(.timer)) }
    }

    func expectations(of run: RecordedRun, options: ScenarioOptions) -> [Expectation] {
        func posts(_ style: Kind) -> [RecordedRun.Record] { run.all(.post, style.rawValue) }
        func work(_ kinds: Kind...) -> [RecordedRun.Record] { kinds.compactMap { run.first(Self.performed($0)) } }
        let (now, asap, idle) = (posts(.now), posts(.asap), posts(.whenIdle))
        let ready = work(.block, .mailbox, .mainQueue, .timer)
        return [
            run.expectOrder(
                "now: posted before enqueue returns", run.first(.enqueue, Kind.now.rawValue), now.first,
                run.first(Self.returned), and: now.count == 1),
            // A run loop performs its blocks before the current pass ends, and all other work in the next pass.
            run.expectOrder(
                "asap: at the end of the callout's pass, before the next", run.first(Self.ends), asap.first, asap.last,
                work(.mailbox, .mainQueue, .timer).earliest, and: asap.count == 2),
            run.expectOrder(
                "whenIdle: the first after all ready work", (asap + ready).latest, idle.first, and: ready.count == 4),
            run.expectOrder(
                "whenIdle: the second after the work of the first", idle.first,
                run.all(Self.performed(.timer)).dropFirst().first, idle.last, and: idle.count == 2),
            .each(
                "first in, first out within each style", Self.styles,
                { !posts($0).isEmpty && posts($0).map(\.post) == run.all(.enqueue, $0.rawValue).map(\.post) },
                otherwise: { "\($0.rawValue) was posted in another order than it was enqueued" }),
            run.expectEachDelivered("each handled once, on the main thread") {
                $0.posted.isOnMain && $0.delivered.isOnMain
            },
        ]
    }
}
