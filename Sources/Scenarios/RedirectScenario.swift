internal import DeliveryDiagnostics
internal import DeliveryRecording
internal import Dispatch
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
        try RunLoop.runCurrent(until: { handled.isOpen }, waitingFor: "the handler", timeout: environment.timeout)
    }

    func expectations(of run: RecordedRun, options: ScenarioOptions) -> [Expectation] {
        let (captured, posted) = (run.all(.capture).map(\.thread.number), run.all(.post).map(\.thread.number))
        return [
            Expectation(
                "received on the posting thread, in the background",
                holds: captured.count == 1 && captured == posted && captured != [1],
                otherwise: "posted on thread \(posted), received on thread \(captured)"),
            run.expectEachDelivered("handled on the main thread") { $0.delivered.thread.number == 1 },
            .matches(.listing2, run.records),
        ]
    }
}
