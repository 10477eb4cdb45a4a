internal import Foundation
internal import Synchronization
internal import ThreadedNotifications

/// The document: "Because port messages may get dropped if too many are sent simultaneously, the handleMachMessage: method
/// iterates over the array until it is empty." Here any signal may be lost, as long as one arrives after the last post.
struct FloodScenario: Scenario {
    let name = "flood"
    let summary = "many posters, one receiver, a port that loses signals: no notification is lost or misplaced"
    let options: Set<ScenarioOptions.Name> = [.posters, .notifications, .dropSignals, .seed]

    private static let defaultNotifications = 10_000

    func perform(in environment: ScenarioEnvironment) throws {
        guard Thread.isMainThread else { throw ScenarioError.notOnMainThread }
        let (recorder, options) = (environment.recorder, environment.options)
        let total = options.notifications ?? Self.defaultNotifications
        let handled = Atomic<Int>(0)

        recorder.logCurrentThread()
        let observer = RecordedObserver(
            of: TestNotification.foundationName, recorder: recorder, dropProbability: options.dropSignals,
            seed: options.seed
        ) { _ in
            handled.add(1, ordering: .relaxed)
        }
        observer.observe()
        defer { observer.remove() }

        let posting = Gate("the posters")
        let remaining = Atomic<Int>(options.posters)
        for poster in 0..<options.posters {
            let thread = Thread {
                ThreadIdentity.nameCurrentThread("poster \(poster + 1)")
                // Together they post 1...total, each every so-manieth.
                for number in stride(from: poster + 1, through: total, by: options.posters) {
                    observer.post(number: number)
                }
                // The last one to finish sends the signal that must not be lost.
                if remaining.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 {
                    observer.port.sendReliably()
                    posting.open()
                }
            }
            thread.start()
        }
        try RunLoop.runCurrent(
            until: {
                environment.progress(Double(handled.load(ordering: .relaxed)) / Double(total))
                return posting.isOpen && handled.load(ordering: .relaxed) >= total
            }, waitingFor: "\(total) notifications to be handled", limit: environment.limit)

        let deliveries = Deliveries(recorder.records)
        recorder.log(
            "posts \(deliveries.count(.post)), signals sent \(deliveries.count(.signal)), "
                + "dropped \(deliveries.count(.dropSignal)), drains \(deliveries.count(.drain))")
        recorder.log("handled \(deliveries.count(.deliver))")
    }

    func expectations(of records: [DeliveryRecord], options: ScenarioOptions) -> [Expectation] {
        let deliveries = Deliveries(records)
        let total = options.notifications ?? Self.defaultNotifications
        let signals = deliveries.count(.signal) + deliveries.count(.dropSignal)
        return [
            Expectation(
                "as many posted as asked for", holds: deliveries.posted.count == total,
                otherwise: "\(deliveries.posted.count) of \(total)"),
            deliveries.expectEachDelivered("none lost, none twice, none on a wrong thread") {
                $0.delivered.thread.number == 1
            },
            deliveries.expectOrderKept("each poster's order kept"),
            Expectation(
                "each redirected post signalled, and one signal more", holds: signals == deliveries.count(.capture) + 1,
                otherwise: "\(signals) signals, dropped ones among them, for \(deliveries.count(.capture)) posts"),
        ]
    }
}
