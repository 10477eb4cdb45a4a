internal import DeliveryDiagnostics
internal import DeliveryRecording
internal import Foundation
internal import ThreadedNotifications

/// Guarantee 10: the target thread ends while work is waiting. It handles what it still can; the rest is counted, and
/// is not delivered on another thread.
struct ThreadExitScenario: Scenario {
    let name = "thread-exit"
    let summary = "the target thread ends: waiting deliveries are counted"

    private static let posts = 3
    private static let ended = "the worker has ended"
    private static let refusal = "perform refused: "
    /// A run loop mode that the worker never runs in.
    private static let otherMode = RunLoop.Mode("NotRun")

    func run(in environment: ScenarioEnvironment) throws {
        let (recorder, timeout) = (environment.recorder, environment.timeout)
        let center = ThreadedNotificationCenter()
        let name = TestNotification.foundationName
        try environment.withThread("worker") { worker in
            let served = center.addObserver(
                forName: name, on: worker, transform: { $0.object as? Int },
                using: { recorder.log("process notification \($0)") })
            let unserved = center.addObserver(
                forName: name, on: worker, options: ObserverOptions(modes: [Self.otherMode]),
                transform: { $0.object as? Int },
                using: { recorder.log("process notification \($0) in another mode") })

            recorder.logCurrentThread()
            let mayGoOn = try environment.keepBusy(worker)
            for number in 1...Self.posts { center.post(name: name, object: number) }
            recorder.log("posted \(Self.posts) while the worker is busy")
            worker.stop()
            recorder.log("stopped the worker")
            mayGoOn.open()
            try worker.waitUntilFinished(timeout: timeout)
            recorder.log(Self.ended)

            let report = center.post(name: name, object: Self.posts + 1)
            recorder.log(Self.message(targetGone: report.targetGone))
            do throws(DeliveryError) {
                try worker.perform { recorder.log("performed after the end") }
            } catch  where error.code == .threadStopped {
                recorder.log("\(Self.refusal)\(error.thread ?? "") has ended")
            } catch {
                throw error
            }
            for token in [served, unserved] {
                recorder.recordCounts(of: token)
                token.cancel()
            }
        }
    }

    private static func message(targetGone: Int) -> String {
        "posted once more: \(targetGone) observers have lost their thread"
    }

    func report(on records: [DeliveryRecord]) -> String? {
        let deliveries = Deliveries(records)
        let rows = zip(["that the worker runs in", "that it does not"], deliveries.all(.register)).map {
            mode, observer in
            let counts = deliveries.counters(of: observer.observer)
            return [mode, "\(counts.total)", "\(counts.delivered)", "\(counts.targetGone)"]
        }
        return Table.text([["observer in a mode", "posted", "delivered", "target gone"]] + rows)
    }

    func expectations(of records: [DeliveryRecord], options: ScenarioOptions) -> [Expectation] {
        let deliveries = Deliveries(records)
        let end = records.sequence(of: Self.ended) ?? 0
        let gone = records.filter { $0.stage == .targetGone && $0.notification != nil }
        let wrong = deliveries.delivered.first {
            $0.delivered.thread != $0.registered?.target || $0.delivered.sequence > end
        }
        return [
            Expectation(
                "the worker handles what it can, and no other thread does",
                holds: deliveries.delivered.count == Self.posts && wrong == nil,
                otherwise: wrong.map { "one was handled on \($0.delivered.thread)" }
                    ?? "\(deliveries.delivered.count) of \(Self.posts) were handled"),
            Expectation(
                "the rest has the outcome target gone",
                holds: gone.count { $0.sequence < end } == Self.posts,
                otherwise: "\(gone.count { $0.sequence < end }) of \(Self.posts)"),
            Expectation(
                "a later post reports that the thread has ended",
                holds: gone.count { $0.sequence > end } == 2
                    && records.contains { $0.message == Self.message(targetGone: 2) },
                otherwise: "it does not report it for both observers"),
            Expectation(
                "a block is refused",
                holds: records.contains { $0.message?.hasPrefix(Self.refusal) == true && $0.sequence > end },
                otherwise: "it was accepted"),
        ] + deliveries.expectOutcomesAndCounters
    }
}
