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
            of: TestNotification.foundationName, recorder: recorder, dropProbability: options.dropSignals,
            seed: options.seed
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
            let thread = Thread {
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
            thread.start()
        }
        try RunLoop.runCurrent(until: { posted.isOpen }, waitingFor: "the posters", timeout: environment.timeout)
        // This signal, after the last post, is the one that must not be lost.
        observer.port.sendReliably()
        try RunLoop.runCurrent(
            until: { handled.load(ordering: .relaxed) >= total }, waitingFor: "\(total) notifications to be handled",
            timeout: environment.timeout)

        recorder.log("handled \(total)")
    }

    func report(on records: [DeliveryRecord]) -> String? {
        let counts = Self.counts(records)
        return "posts \(counts[.post, default: 0]), signals sent \(counts[.signal, default: 0]), "
            + "signals dropped \(counts[.dropSignal, default: 0]), drains \(counts[.drain, default: 0]), "
            + "handled \(counts[.deliver, default: 0])"
    }

    func expectations(of records: [DeliveryRecord], options: ScenarioOptions) -> [Expectation] {
        let deliveries = Deliveries(records)
        let total = options.notifications ?? Self.defaultNotifications
        let counts = Self.counts(records)
        let captured = counts[.capture, default: 0]
        let signals = counts[.signal, default: 0] + counts[.dropSignal, default: 0]
        return [
            Expectation(
                "each of the posts redirected once", holds: captured == total, otherwise: "\(captured) of \(total)"),
            deliveries.expectEachDelivered("none lost, none duplicated, none on a wrong thread") {
                $0.delivered.thread.number == 1
            },
            deliveries.expectOrderKept("each poster's order kept"),
            Expectation(
                "one signal for each redirected post, and one more", holds: signals == captured + 1,
                otherwise: "\(signals) signals, including dropped ones, for \(captured) posts"),
        ]
    }

    private static func counts(_ records: [DeliveryRecord]) -> [DeliveryStage: Int] {
        records.reduce(into: [:]) { counts, record in counts[record.stage, default: 0] += 1 }
    }
}
