internal import DeliveryDiagnostics
internal import DeliveryRecording
internal import DistributedNotifications
internal import TerminalText
internal import ThreadedNotifications

/// "Registering for Distributed Notifications": what happens to notifications for a process that has suspended
/// delivery. It tries each cell of the document's table and each rule in its text.
struct SuspensionScenario: Scenario {
    let name = "suspension"
    let summary = "delivery is suspended: each cell of the document's table"
    let isTraced = false

    func run(in environment: ScenarioEnvironment) throws {
        let seen = Locked<[String]>([])
        let watch: @Sendable (ConnectionEvent) -> Void = { event in
            if case .gap(let gap) = event { seen.withLock { $0.append("gap:\(gap.count)") } }
        }
        try TwoProcesses.perform(in: environment, watching: watch) { two in
            for (number, trial) in SuspensionTable.all.enumerated() {
                environment.progress(Double(number) / Double(SuspensionTable.all.count))
                try trial.perform(with: two, seen: seen)
            }
        }
    }

    func report(on run: RecordedRun) -> String? {
        let heading = ["registered as", "running", "suspended", "2 is immediate"]
        let cells = zip(SuspensionBehavior.allCases, SuspensionTable.cells).map { behavior, trials in
            [behavior.rawValue] + trials.map { $0.cell(on: run) }
        }
        let rules = SuspensionTable.rules.map { [$0.title, $0.claim, $0.cell(on: run)] }
        return [
            Table.text([heading] + cells),
            "1 and 2 are posted for this observer, a and b for another one, which holds.",
            "Delivered before | after resuming; - means nothing.",
            Table.text([["rule", "", "seen"]] + rules),
        ].joined(separator: "\n")
    }

    func expectations(of run: RecordedRun, options: ScenarioOptions) -> [Expectation] {
        SuspensionTable.all.map { $0.expectation(on: run) } + [
            .each(
                "handled on the main thread", run.all(.deliver), { $0.thread.number == 1 },
                otherwise: { "handled on \($0.thread)" }),
            run.expectOneOutcomeEach("each inbound notification has one outcome"),
        ]
    }
}
