internal import DeliveryRecording
internal import Foundation
internal import Synchronization
internal import ThreadedNotifications

/// The document: "Because port messages may get dropped if too many are sent simultaneously, the handleMachMessage:
/// method iterates over the array until it is empty." Here any signal may be lost, as long as one arrives after the
/// last post.
struct FloodScenario: Scenario {
    let name = "flood"
    let summary = "many posters, a port that loses signals: nothing lost"
    let isTraced = false

    func run(in environment: ScenarioEnvironment) throws {
        let options = environment.options
        let total = options.notifications
        let handled = Atomic<Int>(0)
        let (posted, allHandled) = (Gate("the posters"), Gate("\(total) notifications to be handled"))

        ScenarioRecording.logCurrentThread()
        let observer = RecordedObserver(dropProbability: options.dropSignals, seed: options.seed) { _ in
            if handled.add(1, ordering: .relaxed).newValue == total { allHandled.open() }
        }
        observer.observe()
        defer { observer.remove() }

        let remaining = Atomic<Int>(options.posters)
        for poster in 1...options.posters {
            Thread.detachNewThread {
                ThreadIdentity.nameCurrentThread("poster \(poster)")
                // Together they post 1...total: the first poster 1, the second 2, and so on in turn.
                for number in stride(from: poster, through: total, by: options.posters) {
                    observer.post(number: number)
                }
                if remaining.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 {
                    // Wakes the main run loop. Its mailbox accepts blocks as long as the process runs.
                    try? MainThread.main.perform { posted.open() }
                }
            }
        }
        try posted.runLoop(timeout: environment.timeout)
        // This signal, after the last post, is the one that must not be lost.
        observer.port.sendReliably()
        try allHandled.runLoop(timeout: environment.timeout)
        ScenarioRecording.log("handled \(total)")
    }

    func report(on run: RecordedRun) -> String? {
        "posts \(run.count(.post)), signals sent \(run.count(.signal)), signals dropped \(run.count(.dropSignal)), "
            + "drains \(run.count(.drain)), handled \(run.count(.deliver))"
    }

    func expectations(of run: RecordedRun, options: ScenarioOptions) -> [Expectation] {
        [
            .equal("each of the posts redirected once", run.count(.capture), options.notifications),
            run.expectEachDelivered("none lost, none duplicated, none on a wrong thread") { $0.delivered.isOnMain },
            run.expectOrderKept("each poster's order kept"),
            .equal(
                "one signal for each redirected post, and one more", run.count(.signal) + run.count(.dropSignal),
                run.count(.capture) + 1),
        ]
    }
}
