import ChildProcesses
import DistributedNotifications
import Glibc
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import notify_bench

/// The work of the workloads, without its duration. Runs on the main thread, where subjects are measured.
final class ContenderTests: XCTestCase {
    private func conditions() throws -> BenchmarkConditions {
        var conditions = BenchmarkConditions(observersProgram: "\(try Shell.directory())/notify-bench")
        conditions.isQuick = true
        return conditions
    }

    func testEachContenderHandlesAllThatItPostsInEachRoundAndHasAFigure() throws {
        for workload in Workloads.all {
            for contender in workload.contenders {
                let what = "\(workload.name), \(contender.name)"
                let subject = try contender.make(try conditions())
                do {
                    // The second round follows another one, and has another size.
                    for count in [7, 3] {
                        // A workload with a fixed size gets a thousand times as many, as in a quick run.
                        let isFixed = workload.operations.lowerBound == workload.operations.upperBound
                        let operations = isFixed ? 1000 * count : count
                        let sample = try subject.measure(operations)
                        try sample.validate(operations: operations, in: workload.unit)
                        if workload.name.contains("round-trip") || workload.name.hasPrefix("paced") {
                            XCTAssertEqual(sample.latencies.count, operations, what)
                        }
                        if workload.family == "paced" { XCTAssertGreaterThan(sample.processorTime ?? 0, 0, what) }
                    }
                } catch {
                    XCTFail("\(what): \(error)")
                }
                try subject.end()
            }
        }
    }

    func testANotificationThatIsNotHandledInTimeOrIsHandledTwiceIsAnErrorAndTheThreadsEnd() throws {
        for (times, error) in [
            (0, BenchmarkError.timedOut(waitingFor: "what was posted to be handled", after: .milliseconds(1))),
            (2, .miscounted(handled: 20, posted: 10)),
        ] {
            var conditions = BenchmarkConditions()
            // If the second calls come in the same post, all have come when the posters have returned.
            conditions.timeout = times == 0 ? .milliseconds(1) : TestTimeout.hang
            let subject = try Subject.burst(targets: 2, conditions) { handlers in
                Channel(post: { for handler in handlers { for _ in 0..<times { handler() } } })
            }
            assertThrows(error) { try subject.measure(10) }
            try subject.end()
        }
    }
}
