internal import DeliveryRecording
internal import Foundation
internal import PostingQueues
internal import ThreadedNotifications

/// The document: "If the run loop is not currently in this mode, the notifications wait until the next time that mode
/// is entered." A panel runs the run loop in its modal mode; notifications for other modes wait until it has closed.
struct RunLoopModesScenario: Scenario {
    let name = "run-loop-modes"
    let summary = "a modal panel delays notifications for other modes"

    /// The document's mode, under the name that AppKit gives it on macOS.
    private static let modal = RunLoop.Mode("NSModalPanelRunLoopMode")

    /// A notification that is enqueued. Each is a row of the drawing.
    private struct Entry: Equatable {
        var name: String
        var style: NotificationQueue.PostingStyle
        /// Nil means the default mode.
        var modes: [RunLoop.Mode]?
    }

    /// Its handler runs the panel.
    private static let panel = Entry(name: "panel", style: .asap)
    private static let nowForModal = Entry(name: "now for modal", style: .now, modes: [modal])
    private static let asapForModal = Entry(name: "asap for modal", style: .asap, modes: [modal])
    private static let asapForCommon = Entry(name: "asap for common", style: .asap, modes: [.common])
    private static let idleForModal = Entry(name: "whenIdle for modal", style: .whenIdle, modes: [modal])
    private static let asapForDefault = Entry(name: "asap for default", style: .asap)
    private static let nowForDefault = Entry(name: "now for default", style: .now)

    private static let entries = [
        panel, nowForModal, asapForModal, asapForCommon, idleForModal, asapForDefault, nowForDefault,
    ]
    private static let inCalloutOfDefault = [panel, asapForDefault, asapForModal, asapForCommon, nowForModal]
    private static let inCalloutOfModal = [nowForDefault, nowForModal, idleForModal]

    private static let opens = "the panel opens"
    private static let closed = "the panel has closed"

    private static func posted(_ entry: Entry) -> String { "posted \(entry.name)" }

    private static func enqueued(_ entry: Entry, _ outcome: String) -> String { "\(entry.name), \(outcome)" }

    /// Prefixes a log line with the mode that the run loop runs in.
    private static func line(_ mode: RunLoop.Mode?, _ text: String) -> String {
        let name = mode == modal ? "modal" : mode == .default ? "default" : mode?.rawValue ?? "none"
        return "\(name): \(text)"
    }

    private static func log(_ text: String) {
        ScenarioRecording.log(line(RunLoop.current.currentMode, text))
    }

    func run(in environment: ScenarioEnvironment) throws {
        // AppKit adds this mode to the common modes on macOS. Here only the default mode is common initially.
        RunLoop.addCommonModeToCurrent(Self.modal)
        let timeout = environment.timeout
        let center = ThreadedNotificationCenter()
        let queue = PostingQueue.default(for: center)
        let (isClosed, isOver) = (Gate("the panel to close"), Gate("the last notification"))
        let enqueue: @Sendable ([Entry]) -> Void = { entries in
            for entry in entries {
                let report = queue.enqueue(
                    Notification(name: .init(entry.name)), postingStyle: entry.style, forModes: entry.modes)
                Self.log(Self.enqueued(entry, "\(report)"))
            }
        }

        ScenarioRecording.logCurrentThread()
        ScenarioRecording.log("modal is \(Self.modal.rawValue)")
        // The observers handle on the posting thread, so that each post is handled immediately.
        let tokens = Self.entries.map { entry in
            center.addObserver(forName: .init(entry.name), on: .postingThread) { _ in
                Self.log(Self.posted(entry))
                switch entry {
                case Self.panel:
                    RunLoop.main.addTimer(Self.modal) { enqueue(Self.inCalloutOfModal) }
                    Self.log(Self.opens)
                    // The panel is closed when no other work is left in its mode. If that takes too long, the
                    // expectations report it.
                    try? isClosed.runLoop(Self.modal, timeout: timeout)
                    Self.log(Self.closed)
                case Self.idleForModal: isClosed.open()
                case Self.nowForDefault: isOver.open()
                default: break
                }
            }
        }
        RunLoop.main.perform { enqueue(Self.inCalloutOfDefault) }
        try isOver.runLoop(timeout: timeout)
        for token in tokens { token.cancel() }
    }

    func report(on run: RecordedRun) -> String? {
        StepDrawing(rows: Self.entries.map(\.name), steps: run.all { _ in true }.compactMap(Self.step)).text
    }

    private static func step(_ record: RecordedRun.Record) -> StepDrawing.Step? {
        switch record.stage {
        case .enqueue: (record.name, .isHandedOver)
        case .post: (record.name, record.name == panel.name ? .begins : .happens)
        case .log where record.message == line(.default, closed): (panel.name, .ends)
        default: nil
        }
    }

    func expectations(of run: RecordedRun, options: ScenarioOptions) -> [Expectation] {
        func posts(_ entries: Entry...) -> [RecordedRun.Record] { entries.flatMap { run.all(.post, $0.name) } }
        let (open, close) = (run.first(Self.line(.default, Self.opens)), run.first(Self.line(.default, Self.closed)))
        let heldForDefault = posts(Self.asapForDefault, Self.nowForDefault)
        let heldForModal = posts(Self.nowForModal).prefix(1) + posts(Self.asapForModal)
        let (nowEnqueued, nowPosted) = (run.all(.enqueue, Self.nowForModal.name), posts(Self.nowForModal))
        let idle = posts(Self.idleForModal)
        let correct = Self.entries.flatMap { entry in
            (entry.modes == [.common] ? [.default, Self.modal] : entry.modes ?? [.default])
                .map { Self.line($0, Self.posted(entry)) }
        }
        let lastOfPanel = run.all(.post).filter { $0.number < close?.number ?? 0 }.latest
        return [
            .each(
                "each posted in one of its modes",
                run.all(.log).compactMap(\.message).filter { $0.contains(": posted ") },
                correct.contains, otherwise: \.self),
            run.expectOrder(
                "for default, also now: held until the panel has closed", open, close, heldForDefault.earliest,
                and: heldForDefault.count == 2),
            run.expectOrder(
                "for modal, also now: held until the panel opens", open, heldForModal.earliest, heldForModal.latest,
                close, and: heldForModal.count == 2),
            run.expectOrder(
                "for the common modes: posted in the panel too", open, posts(Self.asapForCommon).first, close,
                and: posts(Self.asapForCommon).count == 1),
            run.expectOrder(
                "now, in a matching mode: posted before enqueue returns", nowEnqueued.last, nowPosted.last,
                run.first(Self.line(Self.modal, Self.enqueued(Self.nowForModal, "posted"))),
                and: nowEnqueued.count == 2 && nowPosted.count == 2),
            run.expectOrder(
                "whenIdle: after all other posts for the panel", open, idle.first, close,
                and: idle.count == 1 && idle.first?.number == lastOfPanel?.number),
            run.expectEachDelivered("each handled once"),
        ]
    }
}
