internal import DeliveryDiagnostics
internal import DeliveryRecording
internal import Foundation
internal import TerminalText
internal import ThreadedNotifications

/// Guarantee 10: the target thread ends while work is waiting. What it has not handled is counted, and is not delivered
/// on another thread.
struct ThreadExitScenario: Scenario {
    let name = "thread-exit"
    let summary = "the target thread ends: waiting deliveries are counted"

    private static let posts = 3
    /// The handler of this one ends the thread.
    private static let last = 2
    private static let ended = "the worker has ended"
    private static let lost = "posted once more: 1 observer has lost its thread"
    private static func refused(_ thread: String) -> String { "perform refused: \(thread) has ended" }

    func run(in environment: ScenarioEnvironment) throws {
        let recorder = environment.recorder
        let center = ThreadedNotificationCenter()
        try environment.withThread("worker") { worker in
            let token = center.addObserver(
                forName: .test, on: worker, transform: { $0.object as? Int },
                using: { number in
                    recorder.log("process notification \(number)")
                    if number == Self.last { Thread.exit() }
                })
            recorder.logCurrentThread()
            let mayGoOn = try environment.keepBusy(worker)
            for number in 1...Self.posts { center.post(name: .test, object: number) }
            recorder.log("posted \(Self.posts) while the worker is busy")
            mayGoOn.open()
            try worker.waitUntilFinished(timeout: environment.timeout)
            recorder.log(Self.ended)

            let report = center.post(name: .test, object: Self.posts + 1)
            if report.targetGone == 1 { recorder.log(Self.lost) }
            do throws(DeliveryError) {
                try worker.perform { recorder.log("performed after the end") }
            } catch {
                recorder.log(Self.refused(error.thread ?? ""))
            }
            recorder.finish([token])
        }
    }

    func report(on run: RecordedRun) -> String? {
        let counts = run.counters(of: run.first(.register)?.observer ?? 0)
        return Table.text([
            ["posted", "delivered", "target gone"],
            ["\(counts.total)", "\(counts.delivered)", "\(counts.targetGone)"],
        ])
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
                "the worker handles notifications until it ends, and no other thread does",
                holds: run.delivered.count == Self.last && wrong == nil,
                otherwise: wrong.map { "one was handled on \($0.delivered.thread)" }
                    ?? "\(run.delivered.count) of \(Self.last) were handled"),
            .equal("the rest has the outcome target gone", before, Self.posts - Self.last),
            run.expectOrder(
                "a later post reports that the thread has ended", end, run.first(Self.lost),
                and: gone.count - before == 1),
            run.expectOrder("a block is refused", end, run.first(Self.refused("worker"))),
        ] + run.expectOutcomesAndCounters
    }
}
