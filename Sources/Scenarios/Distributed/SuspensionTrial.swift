internal import DeliveryRecording
internal import DistributedNotifications
internal import Foundation
internal import ThreadedNotifications

/// A trial of suspended delivery, for a cell of the table of suspension behaviors or for a rule.
struct SuspensionTrial {
    enum Step {
        case suspend
        case resume
        case post([DistributedPost])
        case removeFirstObserver
        /// Asks the server how many entries it holds for this process.
        case countHeld
    }

    struct Observer {
        var behavior: SuspensionBehavior
        var name: Notification.Name? = .test
        /// Follows the labels that this observer handles.
        var mark = ""
    }

    /// The line that is logged when the trial begins.
    var title: String
    var claim: String
    var observers: [Observer]
    var steps: [Step]
    /// The expected result, in the form that `seen(in:)` returns.
    var expected: String

    /// - Parameter seen: the labels that were handled and the gaps, and `|` where delivery was resumed.
    func perform(with two: TwoProcesses, seen: Locked<[String]>) throws {
        two.recorder.log(title)
        seen.withLock { $0 = [] }
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
            case .resume:
                seen.withLock { $0.append("|") }
                try two.resume()
            case .post(let posts): try two.post(posts)
            case .removeFirstObserver:
                tokens.removeFirst().cancel()
                try two.handleAll()
            case .countHeld:
                let own = try two.status.clients.first { $0.process == ProcessIdentity.current.id }
                seen.withLock { $0.append("(\(own?.heldEntries ?? 0) held)") }
            }
        }
        let sides = seen.withLock { $0 }.split(separator: "|", omittingEmptySubsequences: false)
        let text = sides.map { $0.isEmpty ? "-" : DistributedPost.text(of: Array($0)) }.joined(separator: " | ")
        two.recorder.log("\(title): \(text)")
    }

    // MARK: Reading the records

    /// The observed result, with `-` for a side of `|` with nothing. Nil if the trial did not run.
    func seen(in run: RecordedRun) -> String? {
        run.logs.first { $0.hasPrefix("\(title): ") }.map { String($0.dropFirst(title.count + 2)) }
    }

    func expectation(on run: RecordedRun) -> Expectation {
        let seen = seen(in: run)
        return Expectation(
            "\(title): \(claim)", holds: seen == expected,
            otherwise: seen.map { "observed \($0) instead of \(expected)" } ?? "it did not run")
    }

    func cell(on run: RecordedRun) -> String {
        let seen = seen(in: run) ?? "not run"
        return seen == expected ? seen : "\(seen) (NOT \(expected))"
    }
}
