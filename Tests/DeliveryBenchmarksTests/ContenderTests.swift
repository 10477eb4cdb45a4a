import DeliveryDiagnostics
import Foundation
import XCTest

@testable import DeliveryBenchmarks

/// The work of the workloads, without its duration. Runs on the main thread, where subjects are measured.
final class ContenderTests: XCTestCase {
    func testEachContenderHandlesAllThatItPostsInEachRoundAndHasAFigure() throws {
        for workload in Workloads.all {
            for contender in workload.contenders {
                let what = "\(workload.name), \(contender.name)"
                let subject = try contender.make(
                    BenchmarkConditions(isQuick: true, observersProgram: BenchmarkConditions.observersProgram))
                do {
                    // The second round follows another one, and has another size.
                    for count in [7, 3] {
                        // A workload with a fixed size gets a thousand times as many, as in a quick run.
                        let isFixed = workload.operations.lowerBound == workload.operations.upperBound
                        let operations = isFixed ? 1000 * count : count
                        let sample = try subject.measure(operations)
                        try sample.validate(operations: operations, in: workload.unit)
                        if case .allocations = workload.unit { continue }
                        XCTAssertGreaterThan(sample.figure, 0, what)
                    }
                } catch {
                    XCTFail("\(what): \(error)")
                }
                try subject.end()
            }
        }
    }

    func testLatenciesAreOfEachOperation() throws {
        for workload in [RoundTrip.workload, Waiting.workload, Distributed.roundTrip(observers: 2)] {
            for contender in workload.contenders {
                let subject = try contender.make(
                    BenchmarkConditions(observersProgram: BenchmarkConditions.observersProgram))
                let sample = try subject.measure(20)
                XCTAssertEqual(sample.latencies.count, 20, contender.name)
                XCTAssertFalse(sample.latencies.contains(0), contender.name)
                XCTAssertLessThanOrEqual(Double(sample.latencies.reduce(0, +)), sample.total, contender.name)
                try subject.end()
            }
        }
    }

    func testPacedPostsHaveLatenciesAndAProcessorTime() throws {
        for contender in Paced.workload(every: .hundredMicroseconds).contenders {
            let subject = try contender.make(BenchmarkConditions())
            let sample = try subject.measure(10)
            XCTAssertEqual(sample.latencies.count, 10, contender.name)
            XCTAssertGreaterThan(sample.processorTime ?? 0, 0, contender.name)
            try subject.end()
        }
    }

    func testThreadsRunOnTheCoresThatTheyAreGiven() throws {
        let core = try XCTUnwrap(ProcessorCores.available.last)
        for workload in [Burst.workload(posters: 2), RoundTrip.workload, Waiting.workload] {
            for contender in workload.contenders {
                let subject = try contender.make(BenchmarkConditions(postingCore: core, targetCore: core))
                XCTAssertNoThrow(try subject.measure(5), contender.name)
                try subject.end()
            }
        }
    }

    func testAContenderOnACoreThatDoesNotExistIsRefused() {
        for workload in [Burst.workload(posters: 2), FanOut.workload(targets: 2), RoundTrip.workload, Waiting.workload]
        {
            // libdispatch and operation queues are not bound to a core.
            for contender in workload.contenders where !contender.name.hasPrefix("DispatchQueue") {
                XCTAssertThrowsError(
                    try contender.make(BenchmarkConditions(postingCore: 4095, targetCore: 4095)),
                    "\(workload.name), \(contender.name)"
                ) { error in
                    switch error {
                    case BenchmarkError.noSuchCore(4095), BenchmarkError.notMade: break
                    default: XCTFail("\(contender.name): \(error)")
                    }
                }
            }
        }
    }
}
