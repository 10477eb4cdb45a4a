internal import DeliveryDiagnostics
internal import DeliveryRecording
internal import DistributedNotifications
internal import ThreadedNotifications

/// "Registering for Distributed Notifications": what happens to notifications for a process that has suspended
/// delivery. It tries each cell of the document's table and each rule in its text.
struct SuspensionScenario: Scenario {
    let name = "suspension"
    let summary = "delivery is suspended: each cell of the document's table"
    let isTraced = false

    func run(in environment: ScenarioEnvironment) throws {
        let seen = SuspensionTrial.Seen()
        try TwoProcesses.perform(in: environment, watching: seen.see) { two in
            for (number, trial) in SuspensionTable.all.enumerated() {
                environment.progress(Double(number) / Double(SuspensionTable.all.count))
                try trial.perform(with: two, seen: seen)
            }
        }
    }

    func report(on records: [DeliveryRecord]) -> String? {
        let heading = ["registered as", "running", "suspended", "2 is immediate"]
        let cells = zip(SuspensionBehavior.allCases, SuspensionTable.cells).map { behavior, trials in
            [behavior.rawValue] + trials.map { $0.cell(on: records) }
        }
        let rules = SuspensionTable.rules.map { [$0.title, $0.claim, $0.cell(on: records)] }
        let failures = SuspensionTable.all.filter { $0.seen(in: records) != $0.expected }.map(\.title)
        return [
            Table.text([heading] + cells),
            "1 and 2 are posted for this observer, a and b for another one, which holds.",
            "Delivered before | after resuming; - means nothing.",
            Table.text([["rule", "", "seen"]] + rules),
            failures.isEmpty ? "all as documented" : "not as documented: \(failures)",
        ].joined(separator: "\n")
    }

    func expectations(of records: [DeliveryRecord], options: ScenarioOptions) -> [Expectation] {
        let deliveries = Deliveries(records)
        let elsewhere = records.first { $0.stage == .deliver && $0.thread.number != 1 }
        let isHandled = records.contains { $0.stage == .deliver }
        return SuspensionTable.all.map { $0.expectation(on: records) } + [
            Expectation(
                "handled on the main thread", holds: isHandled && elsewhere == nil,
                otherwise: elsewhere.map { "handled on \($0.thread)" } ?? "nothing was handled"),
            deliveries.expectOneOutcomeEach("each inbound notification has one outcome"),
        ]
    }
}
