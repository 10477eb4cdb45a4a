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
        case removeFirstObserver
        /// Asks the server how many entries it holds for this process.
        case countHeld
    }

    struct Observer {
        var behavior: SuspensionBehavior
        var name: Notification.Name? = .test
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

    private static let handled = "handled "
    private static let held = "the server holds "

    /// - Parameter seen: the labels that were handled, and the gaps, since the last step.
    func perform(with two: TwoProcesses, seen: Locked<[String]>) throws {
        two.recorder.log(title)
        var tokens = try observers.map { observer in
            try two.center.addObserver(forName: observer.name, suspensionBehavior: observer.behavior) { notification in
                seen.withLock { $0.append(DistributedPost.label(of: notification) + observer.mark) }
            }
        }
        // The observers are removed before the next trial begins.
        defer { tokens = [] }
        try two.center.synchronize(timeout: two.timeout)
        for step in steps {
            switch step {
            case .suspend: try two.suspend()
            case .resume: try two.resume()
            case .post(let posts): try two.post(posts)
            case .removeFirstObserver:
                tokens.removeFirst().cancel()
                try two.handleAll()
            case .countHeld:
                let own = try two.status.clients.first { $0.process == ProcessIdentity.current.id }
                two.recorder.log("\(Self.held)\(own?.heldEntries ?? 0)")
            }
            let labels = seen.withLock { labels in
                defer { labels = [] }
                return labels
            }
            if !labels.isEmpty { two.recorder.log(Self.handled + DistributedPost.text(of: labels)) }
        }
    }

    // MARK: Reading the records

    /// The observed result: labels in order, `|` where delivery was resumed, and `-` if there is nothing on one
    /// side. Nil if the trial did not run.
    func seen(in run: RecordedRun) -> String? {
        guard let begin = run.records.firstIndex(where: { $0.message == title }) else { return nil }
        let later = run.records[begin...].lazy.dropFirst()
        var sides: [[String]] = [[]]
        for record in later where record.stage == .log && record.process == run.records[begin].process {
            let message = record.message ?? ""
            if SuspensionTable.titles.contains(message) { break }
            if message == "resumed" { sides.append([]) }
            if message.hasPrefix(Self.handled) {
                sides[sides.count - 1].append(String(message.dropFirst(Self.handled.count)))
            } else if message.hasPrefix(Self.held) {
                sides[sides.count - 1].append("(\(message.dropFirst(Self.held.count)) held)")
            }
        }
        return sides.map { $0.isEmpty ? "-" : $0.joined(separator: " ") }.joined(separator: " | ")
    }

    func expectation(on run: RecordedRun) -> Expectation {
        let seen = seen(in: run)
        return Expectation(
            "\(title): \(claim)", holds: seen == expected,
            otherwise: seen.map { "observed \($0) instead of \(expected)" } ?? "it did not run")
    }

    /// A cell of the report's table.
    func cell(on run: RecordedRun) -> String {
        let seen = seen(in: run) ?? "not run"
        return seen == expected ? seen : "\(seen) (NOT \(expected))"
    }
}
