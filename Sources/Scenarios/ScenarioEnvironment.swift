package import ChildProcesses

/// The parameters of a scenario's run: its recorder, its options, its timeout, and the programs that it may start.
package struct ScenarioEnvironment: Sendable {
    package var recorder: DeliveryRecorder
    package var options: ScenarioOptions
    /// The longest that one wait of the scenario may take.
    package var timeout: Duration
    /// The program of the scenarios' other processes. Its first argument is `LifetimeProgram.subcommand` or
    /// `DistributedProgram.subcommand`.
    package var program: ChildProgram?
    /// Receives the progress of a long scenario, from 0 to 1, on the main thread.
    package var progress: @Sendable (Double) -> Void

    package init(
        recorder: DeliveryRecorder = DeliveryRecorder(), options: ScenarioOptions = ScenarioOptions(),
        timeout: Duration = .seconds(60), program: ChildProgram? = nil,
        progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) {
        self.recorder = recorder
        self.options = options
        self.timeout = timeout
        self.program = program
        self.progress = progress
    }
}
