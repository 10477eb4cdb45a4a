/// What a scenario is given to happen in.
public struct ScenarioEnvironment: Sendable {
    public var recorder: DeliveryRecorder
    public var options: ScenarioOptions
    /// How long any one wait of the scenario may take.
    public var limit: Duration
    /// How to start this program again, to do what a process does not survive.
    public var childProgram: ChildProgram?
    /// How to start this program again as the second process of a distributed scenario: it calls `DistributedProgram.perform`
    /// with the directory that is its last argument.
    public var distributedChild: ChildProgram?
    /// Told now and then how far a long scenario is, from 0 to 1; on the main thread.
    public var progress: @Sendable (Double) -> Void

    public init(
        recorder: DeliveryRecorder = DeliveryRecorder(), options: ScenarioOptions = ScenarioOptions(),
        limit: Duration = .seconds(60), childProgram: ChildProgram? = nil,
        distributedChild: ChildProgram? = nil,
        progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) {
        self.recorder = recorder
        self.options = options
        self.limit = limit
        self.childProgram = childProgram
        self.distributedChild = distributedChild
        self.progress = progress
    }
}
