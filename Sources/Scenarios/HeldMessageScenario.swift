internal import DeliveryRecording
internal import ThreadedNotifications

/// The document: "If the receiving thread’s run loop is not running when the Mach message arrives, the kernel holds on
/// to the message until the next time the run loop is entered."
struct HeldMessageScenario: Scenario {
    let name = "held-message"
    let summary = "posted before the run loop runs: held until it does"
    let isTraced = false

    private static let count = 3
    private static let entering = "entering the run loop"

    func run(in environment: ScenarioEnvironment) throws {
        let (posted, handled) = (Gate("the posts"), Gate("the last handler"))

        ScenarioRecording.logCurrentThread()
        let observer = RecordedObserver { post in
            ScenarioRecording.log("process notification \(post)")
            if post == Self.count { handled.open() }
        }
        observer.observe()
        defer { observer.remove() }

        try environment.withThread("poster") { poster in
            try poster.perform {
                ScenarioRecording.logCurrentThread()
                for number in 1...Self.count { observer.post(number: number) }
                ScenarioRecording.log("posted \(Self.count)")
                posted.open()
            }
            // Blocks the main thread, so that its run loop does not run and the signals wait.
            try posted.wait(timeout: environment.timeout)
        }
        ScenarioRecording.log(Self.entering)
        try handled.runLoop(timeout: environment.timeout)
    }

    func expectations(of run: RecordedRun, options: ScenarioOptions) -> [Expectation] {
        let entered = run.first(Self.entering)
        return [
            run.expectOrder("signalled before the run loop runs", run.all(.signal).latest, entered),
            run.expectEachDelivered("held until it runs, and handled there") {
                $0.delivered.number > entered?.number ?? 0 && $0.delivered.isOnMain
            },
            run.expectOrderKept("handled in the order posted"),
        ]
    }
}
