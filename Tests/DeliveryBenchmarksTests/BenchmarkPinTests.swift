import DeliveryDiagnostics
import Foundation
import Testing

@testable import DeliveryBenchmarks

@Suite("Benchmark pin")
struct BenchmarkPinTests {
    /// Uses a separate thread, because a thread stays pinned.
    private func measured(
        _ workload: Workload, on places: BenchmarkPlaces
    ) async -> Result<BenchmarkReport, BenchmarkError> {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    returning: Result { () throws(BenchmarkError) in
                        try BenchmarkReport.measuring([workload], in: BenchmarkRun(places: places, isQuick: true))
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

    @Test("subjects are created and measured on the requested cores, and the reported machine is the same")
    func pinned() async throws {
        let cores = ProcessorCores.available
        let core = try #require(cores.last)
        let workload = Workload.drawn(operations: 1...1, contenders: [Contender("cores") { _ in CoreCount() }])
        let report = try await measured(workload, on: BenchmarkPlaces(postingCore: core, targetCore: core)).get()
        #expect(report.workloads.first?.contenders.first?.figures == [1, 1, 1])
        #expect(report.pin == [core])
        // The machine may have more cores than the tests may use.
        #expect(report.machine.cores == BenchmarkMachine.current.cores)
        let free = try await measured(workload, on: BenchmarkPlaces()).get()
        #expect(free.workloads.first?.contenders.first?.median == Double(cores.count))
        #expect(free.pin == [])
    }

    @Test("the error for a missing core has its number")
    func noSuchCore() async throws {
        let outcome = await measured(.drawn(), on: BenchmarkPlaces(postingCore: 0, targetCore: 4096))
        #expect(throws: BenchmarkError.noSuchCore(4096)) { try outcome.get() }
    }
}
