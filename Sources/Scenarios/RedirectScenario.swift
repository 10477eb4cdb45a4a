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
        let recorder = environment.recorder
        let handled = Gate("the handler")

        recorder.logCurrentThread()
        let observer = RecordedObserver(recorder: recorder) { _ in
            recorder.logCurrentThread()
            recorder.log("process notification")
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
                    && captured?.thread.number != 1),
            run.expectEachDelivered("handled on the main thread") { $0.delivered.thread.number == 1 },
            .matches(.listing2, run.records),
        ]
    }
}
