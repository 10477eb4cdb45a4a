internal import DeliveryRecording
internal import Foundation
internal import ThreadedNotifications

/// The document's own example: an object on a background thread observes the closing of a window.
struct BackgroundObserverScenario: Scenario {
    let name = "background-observer"
    let summary = "main posts that a window closes, a worker handles it"
    let isTraced = false

    func run(in environment: ScenarioEnvironment) throws {
        let (registered, handled) = (Gate("the worker to register"), Gate("the handler"))

        let observer = RecordedObserver(of: .init("NSWindowWillCloseNotification")) { _ in
            ScenarioRecording.logCurrentThread()
            ScenarioRecording.log("window will close")
            handled.open()
        }
        defer { observer.remove() }
        try environment.withThread("worker") { worker in
            try worker.perform {
                ScenarioRecording.logCurrentThread()
                observer.observe()
                registered.open()
            }
            try registered.wait(timeout: environment.timeout)
            ScenarioRecording.logCurrentThread()
            observer.post(number: 1)
            try handled.wait(timeout: environment.timeout)
        }
    }

    func expectations(of run: RecordedRun, options: ScenarioOptions) -> [Expectation] {
        [
            run.expectEachDelivered("posted on main, handled on the worker") {
                $0.posted.isOnMain && $0.delivered.threadName == "worker"
                    && $0.delivered.thread == run.first(.register)?.thread
            }
        ]
    }
}
