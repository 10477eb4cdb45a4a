import CControl
import Dispatch
import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import notify_bench

final class MeasuringTests: XCTestCase {
    /// Other threads of the tests may allocate too, so the counts are minimums.
    func testTheAllocationCounterCountsEachWayToAllocateAndOnlyWhileAsked() throws {
        try XCTSkipUnless(Memory.canBeMeasured, "a sanitizer has a malloc of its own")
        let times = 10_000
        let ways: [(String, () -> UnsafeMutableRawPointer?)] = [
            ("malloc", { malloc(8) }), ("calloc", { calloc(2, 8) }), ("realloc", { realloc(nil, 8) }),
            ("aligned_alloc", { aligned_alloc(64, 64) }),
            (
                "posix_memalign",
                {
                    var memory: UnsafeMutableRawPointer?
                    return posix_memalign(&memory, 64, 64) == 0 ? memory : nil
                }
            ),
        ]
        for (way, allocate) in ways {
            CControlBeginCountingAllocations()
            for _ in 0..<times { free(allocate()) }
            let counted = CControlEndCountingAllocations()
            XCTAssertGreaterThanOrEqual(counted, UInt64(times), way)
            XCTAssertLessThan(counted, UInt64(times) * 3 / 2, way)
            for _ in 0..<times { free(allocate()) }
            XCTAssertEqual(CControlEndCountingAllocations(), counted, way)
        }
    }

    func testACoreThatDoesNotExistIsRefusedAndNothingChanges() throws {
        let before = ProcessorCores.available
        for (cores, refused) in [([4095], 4095), ([-1], -1), ([.max], Int.max), (before + [4095], 4095)] {
            XCTAssertThrowsError(try ProcessorCores.pinCurrentThread(to: cores)) { error in
                XCTAssertEqual(error as? BenchmarkError, .noSuchCore(refused))
            }
            XCTAssertEqual(ProcessorCores.available, before)
        }
    }

    func testAPinnedRunMeasuresOnThatCoreInThreadsThatItStartsToo() throws {
        let core = try XCTUnwrap(ProcessorCores.available.last)
        let cores = Contender("cores") { _ in
            Subject { operations in
                let (found, isDone) = (Locked(0), DispatchSemaphore(value: 0))
                Thread.detachNewThread {
                    found.withLock { $0 = ProcessorCores.available.count }
                    isDone.signal()
                }
                XCTAssertEqual(isDone.wait(timeout: .now() + TestTimeout.seconds), .success)
                return Sample(operations: operations, total: Double(operations * found.withLock { $0 }))
            }
        }
        let report = Locked<BenchmarkReport?>(nil)
        let isMeasured = DispatchSemaphore(value: 0)
        // A separate thread, because it stays pinned.
        Thread.detachNewThread {
            let run = BenchmarkRun(conditions: BenchmarkConditions(postingCore: core, targetCore: core))
            let made = try? BenchmarkReport.measuring([.drawn(operations: 1...1, contenders: [cores])], in: run)
            report.withLock { $0 = made }
            isMeasured.signal()
        }
        XCTAssertEqual(isMeasured.wait(timeout: .now() + TestTimeout.seconds), .success)
        let made = try XCTUnwrap(report.withLock { $0 })
        XCTAssertEqual(made.pin, [core])
        XCTAssertEqual(made.workloads.first?.contenders.first?.figures, [1, 1, 1, 1, 1, 1, 1])
    }

    func testTheBaselinesQueueHandlesTheWordsOfSeveralThreadsOnceEachInEachThreadsOrder() throws {
        let seen = UnsafeMutablePointer<[UInt]>.allocate(capacity: 1)
        seen.initialize(to: [])
        defer { seen.deinitialize(count: 1).deallocate() }
        let made = CControlQueueCreate({ $0!.assumingMemoryBound(to: [UInt].self).pointee.append($1) }, seen)
        // Safety: the queue takes words from any thread.
        nonisolated(unsafe) let queue = try XCTUnwrap(made)
        let (posters, each) = (4, 5000)
        // The words wait until a thread runs the queue.
        for word in 0..<10 { CControlQueueAppend(queue, UInt(posters * each + word)) }
        let hasEnded = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            CControlQueueRun(queue)
            hasEnded.signal()
        }
        DispatchQueue.concurrentPerform(iterations: posters) { poster in
            for word in 0..<each { CControlQueueAppend(queue, UInt(poster * each + word)) }
        }
        CControlQueueEnd(queue)
        XCTAssertEqual(hasEnded.wait(timeout: .now() + TestTimeout.seconds), .success)
        XCTAssertEqual(seen.pointee.count, posters * each + 10)
        for poster in 0...posters {
            let own = seen.pointee.filter { Int($0) / each == poster }
            XCTAssertEqual(own, own.sorted())
            XCTAssertEqual(Set(own).count, poster < posters ? each : 10)
        }
    }
}
