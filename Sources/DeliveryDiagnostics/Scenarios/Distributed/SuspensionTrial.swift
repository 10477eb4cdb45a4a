internal import DistributedNotifications
internal import Foundation
internal import ThreadedNotifications

/// What is done to a process that suspends delivery, and what it must see of it: a cell of the table of suspension behaviors, or
/// a rule.
struct SuspensionTrial {
    enum Step {
        case suspend
        case resume
        /// By the second process; what is delivered is handled.
        case post([DistributedPost])
        /// Removes the first observer.
        case removeFirst
        /// Asks the server how many it holds for this process.
        case countHeld
    }

    struct Observer {
        var name: String? = TestNotification.name
        var behavior: SuspensionBehavior
        /// Follows the labels of what it handles.
        var mark = ""
    }

    /// As it is logged when it begins.
    var title: String
    var claim: String
    var observers: [Observer]
    var steps: [Step]
    /// What it must see, as `seen` has it.
    var expected: String

    static let suspended = "suspended"
    static let resumed = "resumed"
    private static let handled = "handled "
    private static let held = "the server holds "

    /// What was handled, and is not logged yet: labels, and gaps with their counts.
    final class Seen: Sendable {
        let labels = Locked<[String]>([])

        func see(_ event: ConnectionEvent) {
            if case .gap(let gap) = event { labels.withLock { $0.append("gap:\(gap.count)") } }
        }
    }

    // MARK: Doing it

    /// - Parameter seen: gets what is handled, and has the gaps.
    func perform(with two: TwoProcesses, seen: Seen) throws {
        let recorder = two.recorder
        recorder.log(title)
        var tokens = try observers.map { observer in
            try two.center.addObserver(
                forName: observer.name.map { Notification.Name($0) }, suspensionBehavior: observer.behavior
            ) { notification in
                let label = DistributedPost.label(of: notification) + observer.mark
                seen.labels.withLock { $0.append(label) }
            }
        }
        try two.center.synchronize(limit: two.limit)
        for step in steps {
            switch step {
            case .suspend:
                two.center.isSuspended = true
                try two.center.synchronize(limit: two.limit)
                recorder.log(Self.suspended)
            case .resume:
                two.center.isSuspended = false
                recorder.log(Self.resumed)
            case .post(let posts):
                try two.post(posts)
            case .removeFirst:
                tokens.removeFirst().cancel()
                try two.center.synchronize(limit: two.limit)
            case .countHeld:
                let own = try two.status.clients.first { $0.processID == ProcessIdentity.current.id }
                recorder.log("\(Self.held)\(own?.heldEntries ?? 0)")
            }
            try two.handleAll()
            let labels = seen.labels.withLock { labels in
                defer { labels = [] }
                return labels
            }
            if !labels.isEmpty { recorder.log(Self.handled + LabelRun.text(of: labels)) }
        }
        // Removed before the next begins.
        tokens = []
    }

    // MARK: Looking at it

    /// What was seen, in the order in which it was: labels; `|` where delivery was resumed, and `-` for nothing on a side of it.
    /// Nil: it was not tried.
    func seen(in records: [DeliveryRecord]) -> String? {
        guard let begin = records.firstIndex(where: { $0.stage == .log && $0.message == title }) else { return nil }
        let logs = records[(begin + 1)...].lazy.filter { $0.stage == .log && $0.process == records[begin].process }
        var sides = [""]
        for message in logs.compactMap(\.message) {
            if SuspensionTable.titles.contains(message) { break }
            if message == Self.resumed { sides.append("") }
            for prefix in [Self.handled, Self.held] where message.hasPrefix(prefix) {
                let what = message.dropFirst(prefix.count)
                let text = prefix == Self.held ? "(\(what) held)" : String(what)
                sides[sides.count - 1] += (sides[sides.count - 1].isEmpty ? "" : " ") + text
            }
        }
        return sides.map { $0.isEmpty ? "-" : $0 }.joined(separator: " | ")
    }

    func expectation(on records: [DeliveryRecord]) -> Expectation {
        let seen = seen(in: records)
        return Expectation(
            "\(title): \(claim)", holds: seen == expected,
            otherwise: seen.map { "seen was \($0), and it should be \(expected)" } ?? "it was not tried")
    }

    /// What was seen, for a table.
    func cell(on records: [DeliveryRecord]) -> String {
        let seen = seen(in: records) ?? "not tried"
        return seen == expected ? seen : "\(seen) (NOT \(expected))"
    }
}
