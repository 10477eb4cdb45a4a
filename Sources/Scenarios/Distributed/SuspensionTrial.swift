internal import DeliveryRecording
internal import DistributedNotifications
internal import Foundation
internal import ThreadedNotifications

/// One trial of suspended delivery: the steps and the expected result. A trial stands for a cell of the
/// table of suspension behaviors, or for a rule.
struct SuspensionTrial {
    enum Step {
        case suspend
        case resume
        /// Posted by the second process; afterwards this process handles what was delivered.
        case post([DistributedPost])
        /// Removes the first observer.
        case removeFirst
        /// Asks the server how many entries it holds for this process.
        case countHeld
    }

    struct Observer {
        var name: String? = TestNotification.name
        var behavior: SuspensionBehavior
        /// Is appended to the labels that this observer handles.
        var mark = ""
    }

    /// The line that is logged when the trial begins.
    var title: String
    var claim: String
    var observers: [Observer]
    var steps: [Step]
    /// The expected result, in the form that `seen(in:)` returns.
    var expected: String

    static let suspended = "suspended"
    static let resumed = "resumed"
    private static let handled = "handled "
    private static let held = "the server holds "

    /// The labels that were handled since the last log line, and the gaps with their counts.
    final class Seen: Sendable {
        let labels = Locked<[String]>([])

        func see(_ event: ConnectionEvent) {
            if case .gap(let gap) = event { labels.withLock { $0.append("gap:\(gap.count)") } }
        }
    }

    // MARK: Running

    /// - Parameter seen: collects labels and gaps between the steps.
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
        try two.center.synchronize(timeout: two.timeout)
        for step in steps {
            switch step {
            case .suspend:
                two.center.suspend()
                try two.center.synchronize(timeout: two.timeout)
                recorder.log(Self.suspended)
            case .resume:
                two.center.resume()
                recorder.log(Self.resumed)
            case .post(let posts):
                try two.post(posts)
            case .removeFirst:
                tokens.removeFirst().cancel()
                try two.center.synchronize(timeout: two.timeout)
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
        // The observers are removed before the next trial begins.
        tokens = []
    }

    // MARK: Reading the records

    /// The observed result: labels in order, `|` where delivery was resumed, and `-` if there is nothing on one
    /// side. Nil if the trial did not run.
    func seen(in records: [DeliveryRecord]) -> String? {
        guard let begin = records.firstIndex(where: { $0.stage == .log && $0.message == title }) else { return nil }
        let logs = records[(begin + 1)...].lazy.filter { $0.stage == .log && $0.process == records[begin].process }
        var sides = [""]
        for message in logs.compactMap(\.message) {
            if SuspensionTable.titles.contains(message) { break }
            if message == Self.resumed { sides.append("") }
            for prefix in [Self.handled, Self.held] where message.hasPrefix(prefix) {
                let text = message.dropFirst(prefix.count)
                let part = prefix == Self.held ? "(\(text) held)" : String(text)
                sides[sides.count - 1] += (sides[sides.count - 1].isEmpty ? "" : " ") + part
            }
        }
        return sides.map { $0.isEmpty ? "-" : $0 }.joined(separator: " | ")
    }

    func expectation(on records: [DeliveryRecord]) -> Expectation {
        let seen = seen(in: records)
        return Expectation(
            "\(title): \(claim)", holds: seen == expected,
            otherwise: seen.map { "observed \($0) instead of \(expected)" } ?? "it did not run")
    }

    /// A cell of the report's table.
    func cell(on records: [DeliveryRecord]) -> String {
        let seen = seen(in: records) ?? "not run"
        return seen == expected ? seen : "\(seen) (NOT \(expected))"
    }
}
