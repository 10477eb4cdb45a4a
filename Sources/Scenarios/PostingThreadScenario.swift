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
        let handled = Gate("the handler")

        ScenarioRecording.logCurrentThread()
        ScenarioRecording.record(.register, notification: .test, observer: 1)
        let observer = NotificationCenter.default.addObserver(forName: .test, object: nil, queue: nil) { _ in
            ScenarioRecording.record(.deliver, notification: .test, post: 1, observer: 1)
            ScenarioRecording.logCurrentThread()
            ScenarioRecording.log("test notification")
            ScenarioRecording.record(.return, notification: .test, post: 1, observer: 1)
            handled.open()
        }
        defer { NotificationCenter.default.removeObserver(observer) }

        DispatchQueue.global().async {
            ScenarioRecording.record(.post, notification: .test, post: 1, count: 1)
            NotificationCenter.default.post(name: .test, object: nil)
        }
        try handled.wait(timeout: environment.timeout)
    }

    func expectations(of run: RecordedRun, options: ScenarioOptions) -> [Expectation] {
        [
            run.expectEachDelivered("posted in the background, handled on the posting thread") {
                !$0.posted.isOnMain && $0.delivered.thread == $0.posted.thread
            },
            .matches(.listing1, run.all { _ in true }),
        ]
    }
}
