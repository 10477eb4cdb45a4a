internal import DeliveryRecording
internal import Foundation
internal import ThreadedNotifications

/// The document: "If the run loop is not currently in this mode, the notifications wait until the next time that mode
/// is entered." A panel runs the run loop in its modal mode; notifications for other modes wait until it has closed.
struct RunLoopModesScenario: Scenario {
    let name = "run-loop-modes"
    let summary = "a modal panel delays notifications for other modes"

    /// The document's mode, under the name that AppKit gives it on macOS.
    private static let modal = RunLoop.Mode("NSModalPanelRunLoopMode")

    /// The enqueued notifications: the posting style and the mode of each. Each is a row of the drawing.
    private enum Kind: String, CaseIterable {
        case panel
        case nowForModal = "now for modal"
        case asapForModal = "asap for modal"
        case asapForCommon = "asap for common"
        case whenIdleForModal = "whenIdle for modal"
        case asapForDefault = "asap for default"
        case nowForDefault = "now for default"

        var notification: Notification.Name { Notification.Name(rawValue) }

        var style: NotificationQueue.PostingStyle {
            switch self {
            case .nowForModal, .nowForDefault: .now
            case .panel, .asapForModal, .asapForCommon, .asapForDefault: .asap
            case .whenIdleForModal: .whenIdle
            }
        }

        /// Nil means the default mode.
        var modes: [RunLoop.Mode]? {
            switch self {
            case .panel, .asapForDefault, .nowForDefault: nil
            case .nowForModal, .asapForModal, .whenIdleForModal: [RunLoopModesScenario.modal]
            case .asapForCommon: [.common]
            }
        }
    }

    /// The notifications that are enqueued in a callout of the default mode, the first of which opens the panel, and in
    /// a callout of the panel's mode.
    private static let inDefault: [Kind] = [.panel, .asapForDefault, .asapForModal, .asapForCommon, .nowForModal]
    private static let inModal: [Kind] = [.nowForDefault, .nowForModal, .whenIdleForModal]

    private static let opens = "the panel opens"
    private static let closed = "the panel has closed"

    private static func posted(_ kind: Kind) -> String { "posted \(kind.rawValue)" }

    private static func enqueued(_ kind: Kind, _ outcome: String) -> String {
        "\(kind.rawValue), \(outcome)"
    }

    /// Prefixes a log line with the mode that the run loop runs in.
    private static func line(_ mode: RunLoop.Mode?, _ text: String) -> String {
        let name = mode == modal ? "modal" : mode == .default ? "default" : mode?.rawValue ?? "none"
        return "\(name): \(text)"
    }

    private static func log(_ text: String, _ recorder: DeliveryRecorder) {
        recorder.log(line(RunLoop.current.currentMode, text))
    }

    func run(in environment: ScenarioEnvironment) throws {
        // AppKit adds this mode to the common modes on macOS. Here only the default mode is common initially.
        RunLoop.addCommonModeToCurrent(Self.modal)
        let (recorder, timeout) = (environment.recorder, environment.timeout)
        let center = ThreadedNotificationCenter()
        let queue = PostingQueue.default(for: center)
        let (isClosed, isOver) = (Gate("the panel to close"), Gate("the last notification"))

        recorder.logCurrentThread()
        recorder.log("modal is \(Self.modal.rawValue)")
        // The observers handle on the posting thread, so that each post is handled immediately.
        let tokens = Kind.allCases.map { kind in
            center.addObserver(forName: kind.notification, on: .postingThread) { _ in
                Self.log(Self.posted(kind), recorder)
                switch kind {
                case .panel: Self.runPanel(queue, recorder, until: isClosed, timeout: timeout)
                case .whenIdleForModal: isClosed.open()
                case .nowForDefault: isOver.open()
                case .nowForModal, .asapForModal, .asapForCommon, .asapForDefault: break
                }
            }
        }
        RunLoop.main.perform { for kind in Self.inDefault { Self.enqueue(kind, queue, recorder) } }
        try RunLoop.runCurrent(until: { isOver.isOpen }, waitingFor: "the last notification", timeout: timeout)
        recorder.recordCounts(of: queue)
        for token in tokens { token.cancel() }
    }

    private static func enqueue(_ kind: Kind, _ queue: PostingQueue, _ recorder: DeliveryRecorder) {
        let report = queue.enqueue(
            Notification(name: kind.notification), postingStyle: kind.style, forModes: kind.modes)
        log(enqueued(kind, "\(report)"), recorder)
    }

    /// Runs the run loop in the panel's mode until the panel is closed, which happens when no other work is left there.
    private static func runPanel(
        _ queue: PostingQueue, _ recorder: DeliveryRecorder, until isClosed: Gate, timeout: Duration
    ) {
        RunLoop.main.add(
            Timer(fire: Date(), interval: 0, repeats: false) { _ in
                for kind in inModal { enqueue(kind, queue, recorder) }
            }, forMode: modal)
        log(opens, recorder)
        do {
            try RunLoop.runCurrent(
                modal, until: { isClosed.isOpen }, waitingFor: "the panel to close", timeout: timeout)
        } catch {
            recorder.log("\(error)")
        }
        log(closed, recorder)
    }

    func report(on records: [DeliveryRecord]) -> String? {
        let drawing = StepDrawing(rows: Kind.allCases.map(\.rawValue), steps: records.compactMap(Self.step))
        return "\(drawing.text)\n\(StepDrawing.legend)"
    }

    private static func step(_ record: DeliveryRecord) -> StepDrawing.Step? {
        if record.message == line(.default, closed) { return .init(row: Kind.panel.rawValue, mark: .ends) }
        guard let kind = record.notification.flatMap(Kind.init) else { return nil }
        switch record.stage {
        case .enqueue: return .init(row: kind.rawValue, mark: .isHandedOver)
        case .post: return .init(row: kind.rawValue, mark: kind == .panel ? .begins : .happens)
        default: return nil
        }
    }

    func expectations(of records: [DeliveryRecord], options: ScenarioOptions) -> [Expectation] {
        let deliveries = Deliveries(records)
        func sequences(_ stage: DeliveryStage, _ kinds: Kind...) -> [Int] {
            records.filter { record in
                record.stage == stage && kinds.contains { $0.rawValue == record.notification }
            }.map(\.sequence)
        }
        func sequence(_ message: String) -> Int { records.sequence(of: message) ?? 0 }
        let (open, close) = (sequence(Self.line(.default, Self.opens)), sequence(Self.line(.default, Self.closed)))
        let isOpen = open + 1..<max(open + 1, close)
        func expect(_ claim: String, _ posts: [Int], count: Int, where isCorrect: (Int) -> Bool) -> Expectation {
            Expectation(
                claim, holds: !isOpen.isEmpty && posts.count == count && posts.allSatisfy(isCorrect),
                otherwise: "posted at \(posts), and the panel was open from \(open) to \(close)")
        }
        let now = (enqueued: sequences(.enqueue, .nowForModal), posted: sequences(.post, .nowForModal))
        let returned = sequence(
            Self.line(Self.modal, Self.enqueued(.nowForModal, "posted")))
        return [
            Self.expectModesFit("each posted in one of its modes", records),
            expect(
                "for default, also now: held until the panel has closed",
                sequences(.post, .asapForDefault, .nowForDefault), count: 2
            ) { $0 > close },
            expect(
                "for modal, also now: held until the panel opens",
                now.posted.prefix(1) + sequences(.post, .asapForModal), count: 2, where: isOpen.contains),
            expect(
                "for the common modes: posted in the panel too", sequences(.post, .asapForCommon), count: 1,
                where: isOpen.contains),
            Expectation(
                "now, in a matching mode: posted before enqueue returns",
                holds: now.enqueued.count == 2 && now.posted.count == 2 && now.enqueued[1] < now.posted[1]
                    && now.posted[1] < returned,
                otherwise: "enqueued at \(now.enqueued), posted at \(now.posted), and enqueue returned at \(returned)"),
            expect(
                "whenIdle: after all other posts for the panel",
                sequences(.post, .whenIdleForModal), count: 1
            ) { idle in
                isOpen.contains(idle)
                    && !records.contains { $0.stage == .post && $0.sequence > idle && isOpen.contains($0.sequence) }
            },
            deliveries.expectEachDelivered("each handled once"),
        ] + deliveries.expectQueueOutcomesAndCounters
    }

    private static func expectModesFit(_ claim: String, _ records: [DeliveryRecord]) -> Expectation {
        let lines = records.filter { $0.stage == .log }.compactMap(\.message).filter { $0.contains(": posted ") }
        let correct = Kind.allCases.flatMap { kind -> [String] in
            let modes = kind.modes == [.common] ? [.default, modal] : kind.modes ?? [.default]
            return modes.map { line($0, posted(kind)) }
        }
        let unexpected = lines.first { !correct.contains($0) }
        return Expectation(
            claim, holds: !lines.isEmpty && unexpected == nil, otherwise: unexpected ?? "nothing was posted")
    }
}
