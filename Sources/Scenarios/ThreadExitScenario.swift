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
    private static func refused(_ thread: String) -> String { "perform refused: \(thread) has ended" }

    private static func message(targetGone: Int) -> String {
        "posted once more: \(targetGone) observers have lost their thread"
    }

    func run(in environment: ScenarioEnvironment) throws {
        let recorder = environment.recorder
        let center = ThreadedNotificationCenter()
        try environment.withThread("worker") { worker in
            // The worker never runs in the mode of the second observer.
            let tokens = [("", ObserverOptions()), (" in another mode", ObserverOptions(modes: [.init("NotRun")]))]
                .map { suffix, options in
                    center.addObserver(
                        forName: .test, on: worker, options: options, transform: { $0.object as? Int },
                        using: { recorder.log("process notification \($0)\(suffix)") })
                }
            recorder.logCurrentThread()
            let mayGoOn = try environment.keepBusy(worker)
            for number in 1...Self.posts { center.post(name: .test, object: number) }
            recorder.log("posted \(Self.posts) while the worker is busy")
            worker.stop()
            recorder.log("stopped the worker")
            mayGoOn.open()
            try worker.waitUntilFinished(timeout: environment.timeout)
            recorder.log(Self.ended)

            let report = center.post(name: .test, object: Self.posts + 1)
            recorder.log(Self.message(targetGone: report.targetGone))
            do throws(DeliveryError) {
                try worker.perform { recorder.log("performed after the end") }
            } catch {
                recorder.log(Self.refused(error.thread ?? ""))
            }
            recorder.finish(tokens)
        }
    }

    func report(on run: RecordedRun) -> String? {
        let rows = zip(["that the worker runs in", "that it does not"], run.all(.register)).map { mode, observer in
            let counts = run.counters(of: observer.observer)
            return [mode, "\(counts.total)", "\(counts.delivered)", "\(counts.targetGone)"]
        }
        return Table.text([["observer in a mode", "posted", "delivered", "target gone"]] + rows)
    }

    func expectations(of run: RecordedRun, options: ScenarioOptions) -> [Expectation] {
        let end = run.first(Self.ended)
        let gone = run.all(.targetGone).filter { $0.notification != nil }
        let before = gone.count { $0.sequence < end?.sequence ?? 0 }
        let wrong = run.delivered.first {
            $0.delivered.thread != $0.registered?.target || $0.delivered.sequence > end?.sequence ?? 0
        }
        return [
            Expectation(
                "the worker handles what it can, and no other thread does",
                holds: run.delivered.count == Self.posts && wrong == nil,
                otherwise: wrong.map { "one was handled on \($0.delivered.thread)" }
                    ?? "\(run.delivered.count) of \(Self.posts) were handled"),
            .equal("the rest has the outcome target gone", before, Self.posts),
            run.expectOrder(
                "a later post reports that the thread has ended", end, run.first(Self.message(targetGone: 2)),
                and: gone.count - before == 2),
            run.expectOrder("a block is refused", end, run.first(Self.refused("worker"))),
        ] + run.expectOutcomesAndCounters
    }
}
