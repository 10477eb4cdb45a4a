internal import DeliveryRecording
internal import Foundation
internal import ThreadedNotifications

/// Guarantee 13: main waits for A, A waits for B, and B tries to wait for main. The library refuses that.
struct DeadlockCycleScenario: Scenario {
    let name = "deadlock-cycle"
    let summary = "main waits for A, A for B, B for main: refused at once"

    private static let closing = "B asks main, and would wait"
    private static let refused = "refused: it would never end"
    private static let waitsFor = " waits for "
    private static let ends = ["B goes on", "A goes on", "main goes on"]
    private static let question = Notification.Name("Question")

    func run(in environment: ScenarioEnvironment) throws {
        let (recorder, timeout) = (environment.recorder, environment.timeout)
        let center = ThreadedNotificationCenter()
        try environment.withThreads(["A", "B"]) { threads in
            let (a, b) = (threads[0], threads[1])
            let onMain = center.addObserver(forName: Self.question, on: .main) { _ in }
            let onA = center.addObserver(forName: .test, on: a) { _ in
                recorder.log("A waits until B has performed a block")
                do {
                    try b.performAndWait(timeout: timeout) { Self.ask(center, recorder, timeout) }
                    recorder.log(Self.ends[1])
                } catch {
                    recorder.log("\(error)")
                }
            }
            recorder.log("main posts, and waits until A has handled it")
            try center.postAndWait(Notification(name: .test), timeout: timeout)
            recorder.log(Self.ends[2])
            for token in [onMain, onA] { token.cancel() }
        }
    }

    /// Runs on B: the wait that would close the cycle.
    private static func ask(_ center: ThreadedNotificationCenter, _ recorder: DeliveryRecorder, _ timeout: Duration) {
        recorder.log(closing)
        do throws(DeliveryError) {
            try center.postAndWait(Notification(name: question), timeout: timeout)
        } catch  where error.code == .waitWouldDeadlock {
            recorder.log(refused)
            for wait in error.waits { recorder.log(wait.thread.description + waitsFor + wait.waitsFor) }
        } catch {
            recorder.log("\(error)")
        }
        recorder.log(ends[0])
    }

    func expectations(of run: RecordedRun, options: ScenarioOptions) -> [Expectation] {
        let cycle = run.logs.map { $0.components(separatedBy: Self.waitsFor) }.filter { $0.count == 2 }
        let cycleThreads = cycle.map { $0[0] }
        let cycleTargets = cycle.map { parts in cycleThreads.first { parts[1].hasPrefix($0) } ?? "none of them" }
        let threads = ["B", "main", "A"].map { (name: String) in
            run.records.first { $0.thread.name == name }?.thread.description ?? "no thread \(name)"
        }
        return [
            .equal("the wait that closes the cycle is refused", run.first(Self.refused)?.thread.name ?? "none", "B"),
            .equal(
                "refused before anything was posted", run.all(.post).compactMap(\.notification),
                [Notification.Name.test.rawValue]),
            .equal(
                "the error names three threads, each waiting for the next", [cycleThreads, cycleTargets],
                [threads, Array(threads.dropFirst() + threads.prefix(1))]),
            .equal("the other waits end normally", run.logs.filter(Self.ends.contains), Self.ends),
            run.expectEachDelivered("main's post was handled on A") { $0.delivered.thread.name == "A" },
        ]
    }
}
