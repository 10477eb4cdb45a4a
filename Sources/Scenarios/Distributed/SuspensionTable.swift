internal import DistributedNotifications
internal import Foundation
internal import NotificationServer

/// The table of suspension behaviors, with a trial for each cell, and the rules of the text around it.
///
/// Each trial posts 1 and 2 for the observer under test, and a before them and b after them for another observer, which
/// holds.
enum SuspensionTable {
    private static let other = Notification.Name("OtherNotification")
    private static let otherObserver = SuspensionTrial.Observer(behavior: .hold, name: other)
    private static let holding = SuspensionTrial.Observer(behavior: .hold)

    private static func toOther(_ label: String, object: String? = nil) -> DistributedPost {
        DistributedPost(label: label, name: other.rawValue, object: object)
    }

    /// For each behavior: while delivery is not suspended, suspended, and with a post for immediate delivery.
    static let cells = SuspensionBehavior.allCases.map { behavior in
        func trial(
            _ state: String, _ claim: String, _ steps: [SuspensionTrial.Step], _ expected: String
        ) -> SuspensionTrial {
            SuspensionTrial(
                title: "\(behavior.rawValue), \(state)", claim: claim,
                observers: [.init(behavior: behavior), otherObserver], steps: steps, expected: expected)
        }
        let (claim, suspended) =
            switch behavior {
            case .drop: ("discarded", "- | a")
            case .coalesce: ("the last one is delivered at resumption", "- | a 2")
            case .hold: ("all are delivered at resumption", "- | a 1 2")
            case .deliverImmediately: ("delivered at once, after what was held", "a 1 2 | -")
            }
        return [
            trial("running", "delivered as posted", [.post(["1", "2"])], "1 2"),
            trial("suspended", claim, [.suspend, .post([toOther("a"), "1", "2"]), .resume], suspended),
            trial(
                "posted with deliverImmediately", "delivered after what was held; suspended again",
                [
                    .suspend, .post([toOther("a"), "1", .init(label: "2", isImmediate: true)]),
                    .post([toOther("b")]), .resume,
                ], behavior == .drop ? "a 2 | b" : "a 1 2 | b"),
        ]
    }

    /// The number of entries that a server holds for a process, and how many more are posted.
    private static let limit = ServerLimits().heldEntriesPerClient
    private static let more = 6

    static let rules: [SuspensionTrial] = [
        SuspensionTrial(
            title: "order", claim: "in arrival order, before later posts", observers: [holding, otherObserver],
            steps: [.suspend, .post(["1", toOther("2"), "3"]), .resume, .post([toOther("4")])],
            expected: "- | 1 2 3 4"),
        SuspensionTrial(
            title: "flag", claim: "suspended twice, resumed once: resumed", observers: [holding],
            steps: [.suspend, .suspend, .post(["1"]), .resume, .post(["2"])], expected: "- | 1 2"),
        SuspensionTrial(
            title: "still suspended", claim: "stays suspended after an immediate one", observers: [holding],
            steps: [.suspend, .post([.init(label: "1", isImmediate: true)]), .post(["2"]), .resume], expected: "1 | 2"),
        SuspensionTrial(
            title: "one entry", claim: "a post for two observers is held once",
            observers: [holding, .init(behavior: .coalesce, mark: "'")],
            steps: [.suspend, .post(["1"]), .countHeld, .resume], expected: "(1 held) | 1 1'"),
        SuspensionTrial(
            title: "removed", claim: "nothing held is delivered afterwards",
            observers: [holding, .init(behavior: .hold, mark: "'")],
            steps: [.suspend, .post(["1"]), .removeFirstObserver, .resume], expected: "- | 1'"),
        SuspensionTrial(
            title: "wildcard", claim: "coalesced by each name and object",
            observers: [.init(behavior: .coalesce, name: nil)],
            steps: [
                .suspend,
                .post([
                    .init(label: "1", object: "x"), .init(label: "2", object: "y"), toOther("3", object: "x"),
                    .init(label: "4", object: "x"), "5",
                ]), .resume,
            ], expected: "- | 2 3 4 5"),
        SuspensionTrial(
            title: "full", claim: "the oldest are discarded and counted", observers: [holding],
            steps: [.suspend, .post((1...limit + more).map { .init(label: "\($0)") }), .resume],
            expected: "- | gap:\(more) \(more + 1)…\(limit + more)"),
    ]

    static let all = cells.flatMap(\.self) + rules
}
