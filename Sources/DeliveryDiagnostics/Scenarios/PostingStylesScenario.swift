internal import Dispatch
internal import Foundation
internal import ThreadedNotifications

/// The document, *Posting Notifications Asynchronously*: when a queue posts what is enqueued with each posting style, among
/// all else that the run loop has to do.
struct PostingStylesScenario: Scenario {
    let name = "posting-styles"
    let summary = "now, asap, whenIdle among timers and blocks: a timeline"

    /// What has its turn in the run loop. Each is a row of the drawing.
    private enum Kind: String, CaseIterable {
        /// The timer's in which all begins.
        case callout
        case now
        /// Given to `RunLoop.perform`.
        case block
        case asap
        /// Performed on the main thread for another.
        case mailbox
        case mainQueue = "main queue"
        case timer
        case whenIdle

        static let styles: [Kind] = [.now, .asap, .whenIdle]
        static let otherWork: [Kind] = [.block, .mailbox, .mainQueue, .timer]

        /// What is enqueued with this style.
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

    func perform(in environment: ScenarioEnvironment) throws {
        guard Thread.isMainThread else { throw ScenarioError.notOnMainThread }
        try DeliveryTracer.record(into: environment.recorder) { try post(in: environment) }
    }

    private func post(in environment: ScenarioEnvironment) throws {
        let (recorder, limit) = (environment.recorder, environment.limit)
        let center = ThreadedNotificationCenter()
        let queue = PostingQueue.default(for: center)
        let isOver = Gate("the last notification")

        recorder.logCurrentThread()
        // On the posting thread, so that what is posted is handled then and there.
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
            Timer(fire: Date(), interval: 0, repeats: false) { _ in Self.callout(queue, recorder, limit: limit) },
            forMode: .default)
        try RunLoop.runCurrent(until: { isOver.isOpen }, waitingFor: "the last notification", limit: limit)
        recorder.recordCounts(of: queue)
        for token in tokens { token.cancel() }
    }

    /// In one callout of the run loop: two to be posted when idle, two as soon as possible, other work, and one now.
    private static func callout(_ queue: PostingQueue, _ recorder: DeliveryRecorder, limit: Duration) {
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
        // By another thread: on this one it would be performed at once, for nothing waits yet.
        let isHandedOver = Gate("the block for the mailbox")
        recorder.log(Kind.mailbox.ready)
        TargetThread.performInBackground {
            // The main thread's mailbox takes blocks for as long as there is a process.
            try? TargetThread.main.perform { recorder.log(Kind.mailbox.performed) }
            isHandedOver.open()
        }
        // If it does not open in time, the block is missed in what was performed.
        try? isHandedOver.wait(limit: limit)
        recorder.log(Kind.block.ready)
        RunLoop.main.perform { recorder.log(Kind.block.performed) }

        enqueue(.now, 1, .now)
        recorder.log(ends)
    }

    /// Hands over a timer that is due.
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
        func places(_ stage: DeliveryStage, _ style: Kind) -> [Int] {
            records.filter { $0.stage == stage && $0.notification == style.rawValue }.map(\.sequence)
        }
        func places(_ message: String) -> [Int] { records.filter { $0.message == message }.map(\.sequence) }
        let (now, asap, idle) = (places(.post, .now), places(.post, .asap), places(.post, .whenIdle))
        let returned = places(Self.enqueued(.now, 1, "posted")).first
        let end = places(Self.ends).first
        let work = Kind.otherWork.map { places($0.performed).first }
        // The run loop performs the blocks that it was given before it ends a pass, and all else in the next.
        let nextPass = Kind.otherWork.filter { $0 != .block }.compactMap { places($0.performed).first }.min()
        let timer = places(Kind.timer.performed).dropFirst().first
        return [
            Expectation(
                "now: posted before enqueue returned",
                holds: now.count == 1 && Self.isAscending(places(.enqueue, .now).first, now.first, returned),
                otherwise: "posted at \(now), and enqueue returned at \(returned ?? 0)"),
            Expectation(
                "asap: as the callout's pass ended, before the next",
                holds: asap.count == 2 && Self.isAscending(end, asap.first, asap.last, nextPass),
                otherwise: "posted at \(asap), the callout ended at \(end ?? 0), and more was done at \(nextPass ?? 0)"),
            Expectation(
                "whenIdle: the first after all that was ready",
                holds: (asap + work).allSatisfy { Self.isAscending($0, idle.first) },
                otherwise: "posted at \(idle), and the others had their turns at \((asap + work).map { $0 ?? 0 })"),
            Expectation(
                "whenIdle: the second after the work of the first",
                holds: idle.count == 2 && Self.isAscending(idle.first, timer, idle.last),
                otherwise: "posted at \(idle), and the first one's timer fired at \(timer ?? 0)"),
            Self.expectFirstInFirstOut("first in, first out within a style", records),
            deliveries.expectEachDelivered("each handled once, on the main thread") {
                $0.posted.thread.number == 1 && $0.delivered.thread.number == 1
            },
            deliveries.expectOneFateOfEachEnqueued("each enqueued has one fate"),
            deliveries.expectQueueCountsAgree("counted by the library as recorded"),
        ]
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

    /// Whether these happened, in this order.
    private static func isAscending(_ places: Int?...) -> Bool {
        let known = places.compactMap(\.self)
        return known.count == places.count && zip(known, known.dropFirst()).allSatisfy { $0 < $1 }
    }
}
