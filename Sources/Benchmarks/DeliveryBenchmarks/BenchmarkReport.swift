/// What a run measured, on what and how. Everything that is shown of a run is a function of this.
package struct BenchmarkReport: Sendable, Hashable, Encodable {
    /// Changes when what stands here means something else.
    package var schema = 1
    package var machine: BenchmarkMachine
    /// The cores that threads were bound to: one for all, or one for those that post and one for those that handle.
    package var pin: [Int]
    package var spins: Bool
    package var rounds: Int
    package var isQuick: Bool
    package var seconds: Double
    /// How it is known that the machine was too noisy; empty if it was not.
    package var noise: [String]
    package var workloads: [WorkloadResult]

    private enum CodingKeys: String, CodingKey {
        case schema, machine, pin, spins, rounds
        case isQuick = "quick"
        case seconds, noise, workloads
    }

    package init(
        _ run: BenchmarkRun, machine: BenchmarkMachine, seconds: Double, noise: [String], workloads: [WorkloadResult]
    ) {
        self.machine = machine
        pin = run.places.cores
        spins = run.places.spins
        rounds = run.rounds
        isQuick = run.isQuick
        self.seconds = seconds
        self.noise = noise
        self.workloads = workloads
    }

    /// Measures on the calling thread, which must be the main thread and is pinned if the run is, and looks at the
    /// machine before and after.
    ///
    /// - Throws: `BenchmarkError.noSuchCore`.
    package static func measuring(
        _ workloads: [Workload], in run: BenchmarkRun, progress: (String) -> Void = { _ in }
    ) throws(BenchmarkError) -> BenchmarkReport {
        let machine = BenchmarkMachine.current
        // Threads start where the thread that starts them may run: so do those of Foundation and Dispatch.
        if !run.places.cores.isEmpty { try ProcessorCores.pinCurrentThread(to: run.places.cores) }
        let before = ProcessorTimes.now
        var results: [WorkloadResult] = []
        let elapsed = ContinuousClock().measure { results = run.perform(workloads, progress: progress) }
        let times = before.flatMap { before in ProcessorTimes.now?.since(before) }
        return BenchmarkReport(
            run, machine: machine, seconds: elapsed / .seconds(1),
            // A quick look's rounds are too short to tell anything.
            noise: run.isQuick
                ? [] : BenchmarkNoise.findings(in: results, times: times, isPinned: !run.places.cores.isEmpty),
            workloads: results)
    }

    /// What went wrong, and where; empty if every contender has its figures.
    package var problems: [String] {
        workloads.flatMap { workload in
            workload.contenders.compactMap { contender in
                contender.problem.map { "\(workload.name), \(contender.name): \($0)" }
            }
        }
    }
}
