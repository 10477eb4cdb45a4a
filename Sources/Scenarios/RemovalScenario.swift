internal import DeliveryDiagnostics
internal import DeliveryRecording
internal import Foundation
internal import ThreadedNotifications

/// Guarantee 6: the effect of removing an observer on its running handler, on waiting deliveries and on later posts.
struct RemovalScenario: Scenario {
    let name = "removal"
    let summary = "an observer is removed while its handler runs"
    /// It watches the events, too.
    let isTraced = false

    /// The three ways to remove an observer, tried in this order.
    private enum Way: String, CaseIterable {
        case cancel = "cancel"
        case wait = "cancelAndWait"
        case inside = "cancelAndWait inside"

        var begins: String { "\(rawValue): handler begins" }
        var called: String { "\(rawValue): called" }
        var returned: String { "\(rawValue): returned" }
        var ends: String { "\(rawValue): handler ends" }
    }

    /// The number of posts for each observer before it is removed: the first is handled, the others wait.
    private static let posts = 3

    func run(in environment: ScenarioEnvironment) throws {
        let gates = Locked<[UInt64: Gate]>([:])
        let watch: @Sendable (DeliveryEvent) -> Void = { event in
            if event.stage == .remove { gates.withLock { $0[event.observer] }?.open() }
        }
        try environment.recorder.trace(watching: watch) {
            try environment.withThread("worker") { worker in
                environment.recorder.logCurrentThread()
                for way in Way.allCases {
                    try remove(way, worker, in: environment) { gate, observer in
                        gates.withLock { $0[observer] = gate }
                    }
                }
            }
        }
    }

    /// - Parameter openWhenRemoved: opens the gate when the observer with this id is removed.
    private func remove(
        _ way: Way, _ worker: RunLoopThread, in environment: ScenarioEnvironment,
        openWhenRemoved: (Gate, UInt64) -> Void
    ) throws {
        let (recorder, timeout) = (environment.recorder, environment.timeout)
        let center = ThreadedNotificationCenter()
        let (hasBegun, mayGoOn) = (Gate("the handler"), Gate("the removal"))
        let own = Locked<ObserverToken?>(nil)
        let token = center.addObserver(forName: TestNotification.foundationName, on: worker) { _ in
            recorder.log(way.begins)
            hasBegun.open()
            do {
                try mayGoOn.wait(timeout: timeout)
                if way == .inside {
                    recorder.log(way.called)
                    try own.withLock { $0 }?.cancelAndWait(timeout: timeout)
                    recorder.log(way.returned)
                }
            } catch {
                recorder.log("\(error)")
            }
            recorder.log(way.ends)
        }
        own.withLock { $0 = token }
        // Breaks the retain cycle between the handler and its token.
        defer { own.withLock { $0 = nil } }
        for _ in 1...Self.posts { center.post(name: TestNotification.foundationName) }
        try hasBegun.wait(timeout: timeout)
        switch way {
        case .cancel:
            recorder.log(way.called)
            token.cancel()
            recorder.log(way.returned)
            mayGoOn.open()
        case .wait:
            openWhenRemoved(mayGoOn, token.id)
            recorder.log(way.called)
            try token.cancelAndWait(timeout: timeout)
            recorder.log(way.returned)
        case .inside:
            mayGoOn.open()
        }
        // The mailbox is first in, first out, so this block runs after everything that waited.
        try worker.performAndWait(timeout: timeout) {}
        center.post(name: TestNotification.foundationName)
        recorder.recordCounts(of: token)
    }

    func report(on records: [DeliveryRecord]) -> String? {
        let deliveries = Deliveries(records)
        let rows = zip(Way.allCases, deliveries.all(.register)).map { way, registration in
            let counts = deliveries.counters(of: registration.observer)
            return [way.rawValue, "\(counts.total)", "\(counts.delivered)", "\(counts.cancelled)"]
        }
        return Table.text([["removed by", "posted", "delivered", "cancelled"]] + rows)
    }

    func expectations(of records: [DeliveryRecord], options: ScenarioOptions) -> [Expectation] {
        let deliveries = Deliveries(records)
        let counts = deliveries.all(.register).map { deliveries.counters(of: $0.observer) }
        let tooLate = deliveries.delivered.first { delivery in
            deliveries.all(.remove).contains {
                $0.observer == delivery.delivered.observer && $0.sequence < delivery.delivered.sequence
            }
        }
        return [
            Self.expect("cancel returns while the handler runs", .cancel, records) { run in
                run.began < run.returned && run.returned < run.ended
            },
            Self.expect("cancelAndWait, called while it runs, returns after it", .wait, records) { run in
                run.began < run.removed && run.removed < run.ended && run.ended < run.returned
            },
            Self.expect("cancelAndWait in the handler returns, and it continues", .inside, records) { run in
                run.began < run.returned && run.returned < run.ended
            },
            Expectation(
                "no handler begins after the removal", holds: !deliveries.delivered.isEmpty && tooLate == nil,
                otherwise: tooLate == nil ? "nothing was handled" : "a handler began"),
            Expectation(
                "waiting deliveries are cancelled",
                holds: counts.count == Way.allCases.count
                    && counts.allSatisfy { $0.delivered == 1 && $0.cancelled == Self.posts - 1 },
                otherwise: "\(counts)"),
        ] + deliveries.expectOutcomesAndCounters
    }

    /// The sequence numbers of the events of one observer.
    private struct Run {
        var began: Int
        var removed: Int
        var returned: Int
        var ended: Int
    }

    private static func expect(
        _ claim: String, _ way: Way, _ records: [DeliveryRecord], holds: (Run) -> Bool
    ) -> Expectation {
        let registrations = records.filter { $0.stage == .register }
        guard let order = Way.allCases.firstIndex(of: way), order < registrations.count else {
            return Expectation(claim, failure: "it was not registered")
        }
        let observer = registrations[order].observer
        func sequence(_ stage: DeliveryStage) -> Int? {
            records.first { $0.stage == stage && $0.observer == observer }?.sequence
        }
        guard let began = sequence(.deliver), let removed = sequence(.remove), let ended = sequence(.return),
            let returned = records.first(where: { $0.message == way.returned })?.sequence
        else { return Expectation(claim, failure: "the handler did not run, or the removal did not return") }
        let run = Run(began: began, removed: removed, returned: returned, ended: ended)
        return Expectation(claim, holds: holds(run), otherwise: "the order was different: \(run)")
    }
}
