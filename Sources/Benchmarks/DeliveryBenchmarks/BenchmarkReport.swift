/// The result of a run, with its machine and settings. Every output is a function of this value.
package struct BenchmarkReport: Sendable, Hashable, Encodable {
    /// The version of this format. It changes when the meaning of a field changes.
    package var schema = BenchmarkReport.schema
    static let schema = 1
    package var machine: BenchmarkMachine
    /// The cores that threads were bound to: one for all, or one for posting and one for handling threads.
    package var pin: [Int]
    package var rounds: Int
    package var isQuick: Bool
    package var seconds: Double
    /// The reasons to consider the machine too noisy; empty if it was quiet.
    package var noise: [String]
    package var workloads: [WorkloadResult]

    private enum CodingKeys: String, CodingKey {
        case schema, machine, pin, rounds
        case isQuick = "quick"
        case seconds, noise, workloads
    }

    package init(
        _ run: BenchmarkRun, machine: BenchmarkMachine, seconds: Double, noise: [String], workloads: [WorkloadResult]
    ) {
        self.machine = machine
        pin = run.conditions.cores
        rounds = run.rounds
        isQuick = run.isQuick
        self.seconds = seconds
        self.noise = noise
        self.workloads = workloads
    }

    /// Measures on the calling thread, which must be the main thread. A pinned run pins that thread. Reads the state of
    /// the machine before and after.
    ///
    /// - Throws: `BenchmarkError.noSuchCore`.
    package static func measuring(
        _ workloads: [Workload], in run: BenchmarkRun, progress: (String) -> Void = { _ in }
    ) throws(BenchmarkError) -> BenchmarkReport {
        let machine = BenchmarkMachine.current
        // A new thread inherits the cores of the thread that starts it. This includes the threads of Foundation and
        // Dispatch.
        if !run.conditions.cores.isEmpty { try ProcessorCores.pinCurrentThread(to: run.conditions.cores) }
        let before = ProcessorTimes.now
        var results: [WorkloadResult] = []
        let elapsed = SuspendingClock().measure { results = run.perform(workloads, progress: progress) }
        let times = before.flatMap { before in ProcessorTimes.now?.since(before) }
        return BenchmarkReport(
            run, machine: machine, seconds: elapsed / .seconds(1),
            // The rounds of a quick run are too short to show noise.
            noise: run.isQuick
                ? [] : BenchmarkNoise.findings(in: results, times: times, isPinned: !run.conditions.cores.isEmpty),
            workloads: results)
    }

    /// The errors and their contenders; empty if every contender has figures.
    package var problems: [String] {
        workloads.flatMap { workload in
            workload.contenders.compactMap { contender in
                contender.problem.map { "\(workload.name), \(contender.name): \($0)" }
            }
        }
    }
}
