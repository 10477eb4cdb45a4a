internal import DeliveryRecording
internal import Dispatch
internal import Foundation
internal import ThreadedNotifications

/// The document's *Posting Notifications Asynchronously*: when a queue posts with each posting style, relative to the
/// run loop's other work.
struct PostingStylesScenario: Scenario {
    let name = "posting-styles"
    let summary = "now, asap, whenIdle among timers and blocks: a timeline"

    /// The kinds of work in the run loop. Each is a row of the drawing.
    private enum Kind: String, CaseIterable {
        /// The timer callout that starts the scenario.
        case callout
        case now
        /// Given to `RunLoop.perform`.
        case block
        case asap
        /// A block that another thread performs on the main thread.
        case mailbox
        case mainQueue = "main queue"
        case timer
        case whenIdle

        static let styles: [Kind] = [.now, .asap, .whenIdle]
        static let otherWork: [Kind] = [.block, .mailbox, .mainQueue, .timer]

        /// The name of the notification that is enqueued with this style.
        var notification: Notification.Name { Notification.Name(rawValue) }

        var ready: String { "ready: \(rawValue)" }
        var performed: String { "performed: \(rawValue)" }
    }

    private static let begins = "the callout begins"
    private static let ends = "the callout ends"

    private static func enqueued(_ style: Kind, _ number: Int, _ outcome: String) -> String {
        "enqueued: \(style.rawValue) \(number), \(outcome)"
    }

    private static func posted(_ style: Kind, _ number: Int) -> String { "posted: \(style.rawValue) \(number)" }

    func run(in environment: ScenarioEnvironment) throws {
        let (recorder, timeout) = (environment.recorder, environment.timeout)
        let center = ThreadedNotificationCenter()
        let queue = PostingQueue.default(for: center)
        let isOver = Gate("the last notification")

        recorder.logCurrentThread()
        // The observers handle on the posting thread, so that each post is handled immediately.
        let tokens = Kind.styles.map { style in
            center.addObserver(
                forName: style.notification, on: .postingThread, transform: { $0.object as? Int },
                using: { number in
                    recorder.log(Self.posted(style, number))
                    switch (style, number) {
                    case (.whenIdle, 1): Self.scheduleTimer(recorder)
                    case (.whenIdle, _): isOver.open()
                    default: break
                    }
                })
        }
        RunLoop.main.add(
            Timer(fire: Date(), interval: 0, repeats: false) { _ in Self.callout(queue, recorder, timeout: timeout) },
            forMode: .default)
        try RunLoop.runCurrent(until: { isOver.isOpen }, waitingFor: "the last notification", timeout: timeout)
        recorder.recordCounts(of: queue)
        for token in tokens { token.cancel() }
    }

    /// Runs in one callout of the run loop. It enqueues two notifications with `whenIdle` and two with `asap`, starts
    /// other work, and enqueues one with `now`.
    private static func callout(_ queue: PostingQueue, _ recorder: DeliveryRecorder, timeout: Duration) {
        func enqueue(_ style: Kind, _ number: Int, _ postingStyle: NotificationQueue.PostingStyle) {
            let report = queue.enqueue(
                Notification(name: style.notification, object: number), postingStyle: postingStyle, coalesceMask: [])
            recorder.log(enqueued(style, number, "\(report)"))
        }
        recorder.log(begins)
        for number in 1...2 { enqueue(.whenIdle, number, .whenIdle) }
        for number in 1...2 { enqueue(.asap, number, .asap) }

        scheduleTimer(recorder)
        recorder.log(Kind.mainQueue.ready)
        DispatchQueue.main.async { recorder.log(Kind.mainQueue.performed) }
        // Another thread hands over this block: on this thread it would run at once, because nothing else waits yet.
        let isHandedOver = Gate("the block for the mailbox")
        recorder.log(Kind.mailbox.ready)
        TargetThread.performInBackground {
            // The main thread's mailbox accepts blocks as long as the process runs.
            try? TargetThread.main.perform { recorder.log(Kind.mailbox.performed) }
            isHandedOver.open()
        }
        // If the gate does not open in time, the expectations report that the block was not performed.
        try? isHandedOver.wait(timeout: timeout)
        recorder.log(Kind.block.ready)
        RunLoop.main.perform { recorder.log(Kind.block.performed) }

        enqueue(.now, 1, .now)
        recorder.log(ends)
    }

    /// Adds a timer that is already due.
    private static func scheduleTimer(_ recorder: DeliveryRecorder) {
        recorder.log(Kind.timer.ready)
        RunLoop.main.add(
            Timer(fire: Date(), interval: 0, repeats: false) { _ in recorder.log(Kind.timer.performed) },
            forMode: .default)
    }

    func report(on records: [DeliveryRecord]) -> String? {
        let drawing = StepDrawing(rows: Kind.allCases.map(\.rawValue), steps: records.compactMap(Self.step))
        return "\(drawing.text)\n\(StepDrawing.legend)"
    }

    private static func step(_ record: DeliveryRecord) -> StepDrawing.Step? {
        func step(_ kind: Kind, _ mark: StepDrawing.Mark) -> StepDrawing.Step { .init(row: kind.rawValue, mark: mark) }
        let style = Kind.styles.first { $0.rawValue == record.notification }
        switch record.stage {
        case .enqueue: return style.map { step($0, .isHandedOver) }
        case .post: return style.map { step($0, .happens) }
        case .log: break
        default: return nil
        }
        switch record.message {
        case begins: return step(.callout, .begins)
        case ends: return step(.callout, .ends)
        default: break
        }
        for kind in Kind.otherWork {
            if record.message == kind.ready { return step(kind, .isHandedOver) }
            if record.message == kind.performed { return step(kind, .happens) }
        }
        return nil
    }

    func expectations(of records: [DeliveryRecord], options: ScenarioOptions) -> [Expectation] {
        let deliveries = Deliveries(records)
        func sequences(_ stage: DeliveryStage, _ style: Kind) -> [Int] {
            records.filter { $0.stage == stage && $0.notification == style.rawValue }.map(\.sequence)
        }
        func sequences(_ message: String) -> [Int] { records.filter { $0.message == message }.map(\.sequence) }
        let (now, asap, idle) = (sequences(.post, .now), sequences(.post, .asap), sequences(.post, .whenIdle))
        let returned = sequences(Self.enqueued(.now, 1, "posted")).first
        let end = sequences(Self.ends).first
        let work = Kind.otherWork.map { sequences($0.performed).first }
        // A run loop performs its blocks before the current pass ends, and all other work in the next pass.
        let nextPass = Kind.otherWork.filter { $0 != .block }.compactMap { sequences($0.performed).first }.min()
        let timer = sequences(Kind.timer.performed).dropFirst().first
        return [
            Expectation(
                "now: posted before enqueue returns",
                holds: now.count == 1 && Self.isAscending(sequences(.enqueue, .now).first, now.first, returned),
                otherwise: "posted at \(now), and enqueue returned at \(returned ?? 0)"),
            Expectation(
                "asap: at the end of the callout's pass, before the next",
                holds: asap.count == 2 && Self.isAscending(end, asap.first, asap.last, nextPass),
                otherwise:
                    "posted at \(asap), the callout ended at \(end ?? 0), and the next pass began at \(nextPass ?? 0)"),
            Expectation(
                "whenIdle: the first after all ready work",
                holds: (asap + work).allSatisfy { Self.isAscending($0, idle.first) },
                otherwise: "posted at \(idle), and the other work ran at \((asap + work).map { $0 ?? 0 })"),
            Expectation(
                "whenIdle: the second after the work of the first",
                holds: idle.count == 2 && Self.isAscending(idle.first, timer, idle.last),
                otherwise: "posted at \(idle), and the first one's timer fired at \(timer ?? 0)"),
            Self.expectFirstInFirstOut("first in, first out within each style", records),
            deliveries.expectEachDelivered("each handled once, on the main thread") {
                $0.posted.thread.number == 1 && $0.delivered.thread.number == 1
            },
        ] + deliveries.expectQueueOutcomesAndCounters
    }

    private static func expectFirstInFirstOut(_ claim: String, _ records: [DeliveryRecord]) -> Expectation {
        for style in Kind.styles {
            func posts(_ stage: DeliveryStage) -> [Int] {
                records.filter { $0.stage == stage && $0.notification == style.rawValue }.compactMap(\.post)
            }
            let (enqueued, posted) = (posts(.enqueue), posts(.post))
            if enqueued.isEmpty || enqueued != posted {
                return Expectation(claim, failure: "\(style.rawValue): enqueued \(enqueued), posted \(posted)")
            }
        }
        return Expectation(claim, failure: nil)
    }

    /// True if all of these happened, in this order.
    private static func isAscending(_ sequences: Int?...) -> Bool {
        let known = sequences.compactMap(\.self)
        return known.count == sequences.count && zip(known, known.dropFirst()).allSatisfy { $0 < $1 }
    }
}
