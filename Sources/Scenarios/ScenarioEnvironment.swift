/// The parameters of a scenario's run: its recorder, its options, its timeout, and the programs that it may start.
package struct ScenarioEnvironment: Sendable {
    package var recorder: DeliveryRecorder
    package var options: ScenarioOptions
    /// The longest that one wait of the scenario may take.
    package var timeout: Duration
    /// Starts this program again for a step that may crash the process.
    package var childProgram: ChildProgram?
    /// Starts this program again as the second process of a distributed scenario, which calls
    /// `DistributedProgram.perform` with its last argument as the directory.
    package var distributedChild: ChildProgram?
    /// Receives the progress of a long scenario, from 0 to 1, on the main thread.
    package var progress: @Sendable (Double) -> Void

    package init(
        recorder: DeliveryRecorder = DeliveryRecorder(), options: ScenarioOptions = ScenarioOptions(),
        timeout: Duration = .seconds(60), childProgram: ChildProgram? = nil,
        distributedChild: ChildProgram? = nil,
        progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) {
        self.recorder = recorder
        self.options = options
        self.timeout = timeout
        self.childProgram = childProgram
        self.distributedChild = distributedChild
        self.progress = progress
    }
}
