internal import DeliveryRecording
internal import Foundation
internal import ThreadedNotifications

/// The document: "If the receiving thread’s run loop is not running when the Mach message arrives, the kernel holds on
/// to the message until the next time the run loop is entered."
struct HeldMessageScenario: Scenario {
    let name = "held-message"
    let summary = "posted before the run loop runs: held until it does"
    let options: Set<ScenarioOptions.Name> = [.notifications]
    let isTraced = false

    private static let entering = "entering the run loop"

    func run(in environment: ScenarioEnvironment) throws {
        let recorder = environment.recorder
        let count = environment.options.notifications ?? 3
        let posted = Gate("the posts")
        let handled = Gate("the last handler")

        recorder.logCurrentThread()
        let observer = RecordedObserver(of: TestNotification.foundationName, recorder: recorder) { post in
            recorder.log("process notification \(post ?? 0)")
            if post == count { handled.open() }
        }
        observer.observe()
        defer { observer.remove() }

        try environment.withThread("poster") { poster in
            try poster.perform {
                recorder.logCurrentThread()
                for number in 1...count { observer.post(number: number) }
                recorder.log("posted \(count)")
                posted.open()
            }
            // Blocks the main thread, so that its run loop does not run and the signals wait.
            try posted.wait(timeout: environment.timeout)
        }
        recorder.log(Self.entering)
        try RunLoop.runCurrent(until: { handled.isOpen }, waitingFor: "the last handler", timeout: environment.timeout)
    }

    func expectations(of records: [DeliveryRecord], options: ScenarioOptions) -> [Expectation] {
        let deliveries = Deliveries(records)
        let entered = records.sequence(of: Self.entering) ?? 0
        let signals = deliveries.all(.signal)
        return [
            Expectation(
                "signalled before the run loop runs",
                holds: !signals.isEmpty && signals.allSatisfy { $0.sequence < entered },
                otherwise: "the port was signalled later, or not at all"),
            deliveries.expectEachDelivered("held until it runs, and handled there") {
                $0.delivered.sequence > entered && $0.delivered.thread.number == 1
            },
            deliveries.expectOrderKept("handled in the order posted"),
        ]
    }
}
