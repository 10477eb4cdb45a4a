internal import DeliveryDiagnostics
internal import DeliveryRecording
internal import Foundation
internal import ThreadedNotifications

/// Listing 2: the document's technique redirects the post of listing 1 to the main thread.
struct RedirectScenario: Scenario {
    let name = "redirect"
    let summary = "listing 2: the same post, handled on the main thread"
    let isTraced = false

    func run(in environment: ScenarioEnvironment) throws {
        let handled = Gate("the handler")

        ScenarioRecording.logCurrentThread()
        let observer = RecordedObserver { _ in
            ScenarioRecording.logCurrentThread()
            ScenarioRecording.log("process notification")
            handled.open()
        }
        observer.observe()
        defer { observer.remove() }

        DispatchQueue.global().async { observer.post(number: 1) }
        try handled.runLoop(timeout: environment.timeout)
    }

    func expectations(of run: RecordedRun, options: ScenarioOptions) -> [Expectation] {
        let captured = run.first(.capture)
        return [
            run.expectOrder(
                "received on the posting thread, in the background", run.first(.post), captured,
                and: run.count(.capture) == 1 && captured?.thread == run.first(.post)?.thread
                    && captured?.isOnMain == false),
            run.expectEachDelivered("handled on the main thread") { $0.delivered.isOnMain },
            .matches(.listing2, run.all { _ in true }),
        ]
    }
}
