import DeliveryDiagnostics
import Foundation
import SharedTesting
import XCTest

@testable import DeliveryBenchmarks

final class BenchmarkPinTests: XCTestCase {
    /// Uses a separate thread, because a thread stays pinned.
    private func measured(
        _ workload: Workload, on conditions: BenchmarkConditions
    ) async -> Result<BenchmarkReport, BenchmarkError> {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    returning: Result { () throws(BenchmarkError) in
                        try BenchmarkReport.measuring(
                            [workload], in: BenchmarkRun(conditions: conditions, isQuick: true))
                    })
            }
        }
    }

    /// Its figure is the number of cores that the thread may run on.
    private final class CoreCount: BenchmarkSubject {
        func measure(_ operations: Int) throws -> Sample {
            Sample(operations: operations, total: Double(operations * ProcessorCores.available.count))
        }

        func end() {}
    }

    func testSubjectsAreCreatedAndMeasuredOnTheRequestedCoresAndTheReportedMachineIsTheSame() async throws {
        let cores = ProcessorCores.available
        let core = try XCTUnwrap(cores.last)
        let workload = Workload.drawn(operations: 1...1, contenders: [Contender("cores") { _ in CoreCount() }])
        let report = try await measured(workload, on: BenchmarkConditions(postingCore: core, targetCore: core)).get()
        XCTAssertEqual(report.workloads.first?.contenders.first?.figures, [1, 1, 1])
        XCTAssertEqual(report.pin, [core])
        // The machine may have more cores than the tests may use.
        XCTAssertEqual(report.machine.cores, BenchmarkMachine.current.cores)
        let free = try await measured(workload, on: BenchmarkConditions()).get()
        XCTAssertEqual(free.workloads.first?.contenders.first?.median, Double(cores.count))
        XCTAssertEqual(free.pin, [])
    }

    func testTheErrorForAMissingCoreHasItsNumber() async throws {
        let core = try XCTUnwrap(ProcessorCores.available.first)
        let outcome = await measured(.drawn(), on: BenchmarkConditions(postingCore: core, targetCore: 4096))
        assertThrows(BenchmarkError.noSuchCore(4096)) { try outcome.get() }
    }
}
