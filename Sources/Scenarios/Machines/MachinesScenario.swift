internal import DeliveryRecording
internal import DistributedNotifications
internal import TerminalText

/// Two machines around one NATS server, and what may go wrong between them. A row for each fault says what became of
/// the posts.
struct MachinesScenario: Scenario {
    let name = "machines"
    let summary = "posts to another machine while something fails: all received, or in the gap"
    let isTraced = false
    let showsItself = true

    static let asPromised = "as promised"
    static let skipped = "skipped: "

    func run(in environment: ScenarioEnvironment) throws {
        if let missing = MachineRig.missing {
            environment.show("\(Self.skipped)\(missing)")
            return ScenarioRecording.log("\(Self.skipped)\(missing)")
        }
        let numbers = ["posted", "received", "gap", "disorder"]
        var table = Table([.text("fault")] + numbers.map { .number($0) } + [.text("result")])
        for fault in MachineFault.all { table.fit([fault.name, "1000000"]) }
        for line in table.lines() { environment.show(line) }
        for (index, fault) in MachineFault.all.enumerated() {
            environment.progress(Double(index) / Double(MachineFault.all.count))
            let (tally, result) = fault.run(posts: environment.options.bridgedPosts, timeout: environment.timeout)
            let numbers = [tally.posted, tally.received, tally.gap, tally.disordered]
            let slow = tally.gaps[.slow].map { "; \($0) of the gap: the observer was slow" } ?? ""
            environment.show(table.line([fault.name] + numbers.map(String.init) + [result + slow]))
            ScenarioRecording.log("\(fault.name): \(result)")
        }
    }

    func expectations(of run: RecordedRun, options: ScenarioOptions) -> [Expectation] {
        if let all = run.all(beginning: Self.skipped).first?.message { return [Expectation(all, failure: nil)] }
        return MachineFault.all.map { fault in
            let line = run.all(beginning: "\(fault.name): ").first?.message ?? "\(fault.name): not run"
            let result = line.dropFirst(fault.name.count + 2)
            if result.hasPrefix(Self.skipped) { return Expectation(line, failure: nil) }
            let claim = "\(fault.name): all are received once, in order, or in the gap"
            return Expectation(claim, holds: result == Self.asPromised, otherwise: String(result))
        }
    }
}
