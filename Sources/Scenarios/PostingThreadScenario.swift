internal import DeliveryDiagnostics
internal import DeliveryRecording
internal import Foundation
internal import ThreadedNotifications

/// Listing 1: an ordinary observer is called on the posting thread.
struct PostingThreadScenario: Scenario {
    let name = "posting-thread"
    let summary = "listing 1: handled on the thread that posts"
    let isTraced = false

    func run(in environment: ScenarioEnvironment) throws {
        let recorder = environment.recorder
        let handled = Gate("the handler")

        recorder.logCurrentThread()
        recorder.record(.register, notification: .test)
        let observer = NotificationCenter.default.addObserver(forName: .test, object: nil, queue: nil) { _ in
            recorder.record(.deliver, notification: .test, post: 1)
            recorder.logCurrentThread()
            recorder.log("test notification")
            handled.open()
        }
        defer { NotificationCenter.default.removeObserver(observer) }

        DispatchQueue.global().async {
            recorder.record(.post, notification: .test, post: 1)
            NotificationCenter.default.post(name: .test, object: nil)
        }
        try handled.wait(timeout: environment.timeout)
    }

    func expectations(of run: RecordedRun, options: ScenarioOptions) -> [Expectation] {
        [
            run.expectEachDelivered("posted in the background, handled on the posting thread") {
                $0.posted.thread.number != 1 && $0.delivered.thread == $0.posted.thread
            },
            .matches(.listing1, run.records),
        ]
    }
}
