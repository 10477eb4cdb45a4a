internal import DeliveryRecording
internal import DistributedNotifications
internal import Foundation
internal import ThreadedNotifications

/// "Distributed notifications": every process that observes handles a post on its main thread, and so does the process
/// that posted it.
struct DistributedScenario: Scenario {
    let name = "distributed"
    let summary = "a process posts, others handle it on their main threads"
    let isTraced = false

    private static let byChild = (1...3).map { DistributedPost("\($0)") }
    private static let byThis = (4...5).map { DistributedPost("\($0)") }
    private static let entering = "entering the run loop"

    func run(in environment: ScenarioEnvironment) throws {
        try TwoProcesses.perform(in: environment) { two in
            let recorder = two.recorder
            let token = try two.center.addObserver(forName: TestNotification.foundationName) {
                recorder.log(DistributedProgram.handled($0))
            }
            recorder.log("observes")
            try two.center.synchronize(timeout: two.timeout)
            try two.ask(.observe)

            try two.post(Self.byChild)
            recorder.log(Self.entering)
            try two.handleAll()
            try two.ask(.handle)

            for post in Self.byThis { try two.center.post(post, recording: recorder) }
            recorder.log(DistributedProgram.posted(Self.byThis.map(\.label)))
            try two.handleAll()
            try two.ask(.handle)
            token.cancel()
        }
    }

    func expectations(of records: [DeliveryRecord], options: ScenarioOptions) -> [Expectation] {
        let runs = Run.runs(in: records)
        let deliveries = Deliveries(records)
        let handled = runs.flatMap(\.handled)
        let elsewhere = records.first {
            $0.stage == .deliver && $0.notification == TestNotification.name && $0.thread.number != 1
        }
        let labels = (Self.byChild + Self.byThis).map(\.label)
        let posters = runs.flatMap { run in run.posted.map { _ in run.process.id } }
        let texts = runs.flatMap(\.posted)
        let entering = records.first { $0.message == Self.entering }
        let firstHandled = handled.map(\.record.sequence).min() ?? 0
        let early = records.filter { $0.stage == .post && $0.post == nil && $0.process == runs.first?.process }
        return [
            Expectation(
                "handled in both processes, each on its main thread",
                holds: runs.count == 2 && runs.allSatisfy { !$0.handled.isEmpty } && elsewhere == nil
                    && handled.allSatisfy { $0.record.thread.number == 1 },
                otherwise: elsewhere.map { "delivered on \($0.thread)" } ?? "not handled, or a process is missing"),
            Expectation(
                "both processes handle each post once, in the order posted",
                holds: runs.count == 2 && runs.allSatisfy { $0.handled.map(\.label) == labels },
                otherwise: runs.map { "process \($0.process.id) handled \($0.handled.map(\.label))" }
                    .joined(separator: ", ")),
            Expectation(
                "the sender is the process that posted",
                holds: !runs.isEmpty && runs.allSatisfy { $0.handled.map(\.sender) == posters.map { "\($0)" } },
                otherwise: "the posters are \(posters), the senders \(handled.map(\.sender))"),
            Expectation(
                "the userInfo arrives as posted",
                holds: !texts.isEmpty && runs.allSatisfy { $0.handled.map(\.userInfo) == texts },
                otherwise: "posted \(texts), arrived \(handled.map(\.userInfo))"),
            Expectation(
                "posting did not wait for the observers",
                holds: early.count == Self.byChild.count
                    && early.allSatisfy { $0.sequence < entering?.sequence ?? 0 && $0.sequence < firstHandled },
                otherwise: "a post was recorded after a delivery"),
            deliveries.expectOneOutcomeEach("each inbound notification has one outcome"),
        ]
    }

    /// The posts and deliveries of one process.
    private struct Run {
        struct Handled {
            var label: String
            var sender: String
            var userInfo: String
            var record: DeliveryRecord
        }

        var process: ProcessIdentity
        var posted: [String]
        var handled: [Handled]

        /// The second process comes first, because it posts first.
        static func runs(in records: [DeliveryRecord]) -> [Run] {
            var processes: [ProcessIdentity] = []
            for record in records where record.stage == .post && record.post == nil {
                if !processes.contains(record.process) { processes.append(record.process) }
            }
            return processes.map { process in
                let own = records.filter { $0.process == process }
                return Run(
                    process: process,
                    posted: own.filter { $0.stage == .post && $0.post == nil }.compactMap(\.message),
                    handled: own.compactMap(handled))
            }
        }

        private static func handled(_ record: DeliveryRecord) -> Handled? {
            guard record.stage == .log,
                let match = record.message?.wholeMatch(of: /handled (\S+) of process (\d+): (.*)/)
            else { return nil }
            return Handled(
                label: String(match.1), sender: String(match.2), userInfo: String(match.3), record: record)
        }
    }
}
