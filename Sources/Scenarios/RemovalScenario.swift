internal import DeliveryDiagnostics
internal import DeliveryRecording
internal import Foundation
internal import TerminalText
internal import ThreadedNotifications

/// Guarantee 6: the effect of removing an observer on its running handler, on waiting deliveries and on later posts.
struct RemovalScenario: Scenario {
    let name = "removal"
    let summary = "an observer is removed while its handler runs"

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
        let opensAtRemoval = Locked<Gate?>(nil)
        let record = DeliveryEvent.tracer
        // The recorder restores the tracer afterwards.
        DeliveryEvent.tracer = { event in
            record?(event)
            if event.stage == .remove { opensAtRemoval.withLock { $0 }?.open() }
        }
        try environment.withThread("worker") { worker in
            environment.recorder.logCurrentThread()
            for way in Way.allCases { try remove(way, worker, in: environment, opensAtRemoval) }
        }
    }

    /// - Parameter opensAtRemoval: the gate that opens when the next observer is removed.
    private func remove(
        _ way: Way, _ worker: RunLoopThread, in environment: ScenarioEnvironment, _ opensAtRemoval: Locked<Gate?>
    ) throws {
        let (recorder, timeout) = (environment.recorder, environment.timeout)
        let center = ThreadedNotificationCenter()
        let (hasBegun, mayGoOn) = (Gate("the handler"), Gate("the removal"))
        let own = Locked<ObserverToken?>(nil)
        let token = center.addObserver(forName: .test, on: worker) { _ in
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
        for _ in 1...Self.posts { center.post(name: .test) }
        try hasBegun.wait(timeout: timeout)
        switch way {
        case .cancel:
            recorder.log(way.called)
            token.cancel()
            recorder.log(way.returned)
            mayGoOn.open()
        case .wait:
            opensAtRemoval.withLock { $0 = mayGoOn }
            recorder.log(way.called)
            try token.cancelAndWait(timeout: timeout)
            recorder.log(way.returned)
        case .inside:
            mayGoOn.open()
        }
        // The mailbox is first in, first out, so this block runs after everything that waited.
        try worker.performAndWait(timeout: timeout) {}
        center.post(name: .test)
        recorder.recordCounters(of: token)
    }

    func report(on run: RecordedRun) -> String? {
        let rows = zip(Way.allCases, run.all(.register)).map { way, registration in
            let counts = run.counters(of: registration.observer)
            return [way.rawValue, "\(counts.total)", "\(counts.delivered)", "\(counts.cancelled)"]
        }
        return Table.text([["removed by", "posted", "delivered", "cancelled"]] + rows)
    }

    func expectations(of run: RecordedRun, options: ScenarioOptions) -> [Expectation] {
        let observers = run.all(.register).map(\.observer)
        let counts = observers.map { run.counters(of: $0) }
        let removals = run.all(.remove)
        func first(_ stage: DeliveryStage, _ way: Way) -> DeliveryRecord? {
            let observer = zip(Way.allCases, observers).first { $0.0 == way }?.1
            return run.all(stage).first { $0.observer == observer }
        }
        return [
            run.expectOrder(
                "cancel returns while the handler runs", first(.deliver, .cancel), run.first(Way.cancel.returned),
                first(.return, .cancel)),
            run.expectOrder(
                "cancelAndWait, called while it runs, returns after it", first(.deliver, .wait), first(.remove, .wait),
                first(.return, .wait), run.first(Way.wait.returned)),
            run.expectOrder(
                "cancelAndWait in the handler returns, and it continues", first(.deliver, .inside),
                run.first(Way.inside.returned), first(.return, .inside)),
            .each(
                "no handler begins after the removal", run.delivered,
                { delivery in
                    !removals.contains {
                        $0.observer == delivery.delivered.observer && $0.sequence < delivery.delivered.sequence
                    }
                }, otherwise: { "\($0.delivered.sequence) begins" }),
            .equal(
                "waiting deliveries are cancelled", counts.map { [$0.delivered, $0.cancelled] },
                Way.allCases.map { _ in [1, Self.posts - 1] }),
        ] + run.expectOutcomesAndCounters
    }
}
