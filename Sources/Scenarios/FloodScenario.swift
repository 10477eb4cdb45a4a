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
    let options: Set<ScenarioOptions.Name> = [.posters, .notifications, .dropSignals, .seed]
    let isTraced = false

    private static let defaultNotifications = 10_000

    func run(in environment: ScenarioEnvironment) throws {
        let (recorder, options) = (environment.recorder, environment.options)
        let total = options.notifications ?? Self.defaultNotifications
        let handled = Atomic<Int>(0)

        recorder.logCurrentThread()
        let observer = RecordedObserver(
            recorder: recorder, dropProbability: options.dropSignals, seed: options.seed
        ) { _ in
            let count = handled.add(1, ordering: .relaxed).newValue
            if count.isMultiple(of: 1024) { environment.progress(Double(count) / Double(total)) }
        }
        // Each poster has its own center: Foundation's center makes concurrent posters wait for each other, which is
        // not the subject here.
        let centers = (0..<options.posters).map { _ in NotificationCenter() }
        for center in centers { observer.observe(center) }
        defer { observer.remove() }

        let posted = Gate("the posters")
        let postedSignal = SignalPort()
        RunLoop.current.add(postedSignal, forMode: .common)
        defer { postedSignal.invalidate() }
        let remaining = Atomic<Int>(options.posters)
        for (poster, center) in centers.enumerated() {
            Thread.detachNewThread {
                ThreadIdentity.nameCurrentThread("poster \(poster + 1)")
                // Together they post 1...total: the first poster 1, the second 2, and so on in turn.
                for number in stride(from: poster + 1, through: total, by: options.posters) {
                    observer.post(number: number, to: center)
                }
                if remaining.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 {
                    posted.open()
                    _ = postedSignal.send(before: Date(), components: nil, from: nil, reserved: 0)
                }
            }
        }
        try RunLoop.runCurrent(until: { posted.isOpen }, waitingFor: "the posters", timeout: environment.timeout)
        // This signal, after the last post, is the one that must not be lost.
        observer.port.sendReliably()
        try RunLoop.runCurrent(
            until: { handled.load(ordering: .relaxed) >= total }, waitingFor: "\(total) notifications to be handled",
            timeout: environment.timeout)

        recorder.log("handled \(total)")
    }

    func report(on run: RecordedRun) -> String? {
        "posts \(run.count(.post)), signals sent \(run.count(.signal)), signals dropped \(run.count(.dropSignal)), "
            + "drains \(run.count(.drain)), handled \(run.count(.deliver))"
    }

    func expectations(of run: RecordedRun, options: ScenarioOptions) -> [Expectation] {
        let total = options.notifications ?? Self.defaultNotifications
        let captured = run.count(.capture)
        let signals = run.count(.signal) + run.count(.dropSignal)
        return [
            Expectation(
                "each of the posts redirected once", holds: captured == total, otherwise: "\(captured) of \(total)"),
            run.expectEachDelivered("none lost, none duplicated, none on a wrong thread") {
                $0.delivered.thread.number == 1
            },
            run.expectOrderKept("each poster's order kept"),
            Expectation(
                "one signal for each redirected post, and one more", holds: signals == captured + 1,
                otherwise: "\(signals) signals, including dropped ones, for \(captured) posts"),
        ]
    }
}
