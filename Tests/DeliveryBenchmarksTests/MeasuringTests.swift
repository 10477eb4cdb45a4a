import CControl
import DeliveryDiagnostics
import Dispatch
import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DeliveryBenchmarks

final class MeasuringTests: XCTestCase {
    /// The number of allocations during `body`. Skips the test if the program cannot count allocations.
    private func allocations(_ body: () -> Void) throws -> UInt64 {
        try XCTSkipUnless(Allocations.canBeCounted, "a sanitizer has a malloc of its own")
        CControlBeginCountingAllocations()
        body()
        return CControlEndCountingAllocations()
    }

    /// Other threads of the tests may allocate too, so the counts are minimums.
    func testTheAllocationCounterCountsEachWayToAllocate() throws {
        let times = 10_000
        let ways: [(String, () -> UnsafeMutableRawPointer?)] = [
            ("malloc", { malloc(8) }),
            ("calloc", { calloc(2, 8) }),
            ("realloc", { realloc(nil, 8) }),
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
            var failed = 0
            let counted = try allocations {
                for _ in 0..<times {
                    let memory = allocate()
                    if memory == nil { failed += 1 }
                    free(memory)
                }
            }
            XCTAssertEqual(failed, 0, way)
            XCTAssertGreaterThanOrEqual(counted, UInt64(times), way)
            XCTAssertLessThan(counted, UInt64(times) * 3 / 2, way)
        }
    }

    func testTheAllocationCounterBeginsAtZeroAndCountsOnlyWhileAsked() throws {
        _ = try allocations { for _ in 0..<10_000 { free(malloc(8)) } }
        let counted = CControlEndCountingAllocations()
        for _ in 0..<10_000 { free(malloc(8)) }
        XCTAssertEqual(CControlEndCountingAllocations(), counted)
        XCTAssertLessThan(try allocations {}, 5_000)
    }

    func testAlignedMemoryIsAlignedAndABadAlignmentIsRefused() {
        var memory: UnsafeMutableRawPointer?
        XCTAssertEqual(posix_memalign(&memory, 4096, 10), 0)
        XCTAssertEqual(UInt(bitPattern: memory) % 4096, 0)
        free(memory)
        memory = nil
        // A sanitizer ends the program here.
        guard CControlKnowsBytesInUse() else { return }
        XCTAssertEqual(posix_memalign(&memory, 3, 10), EINVAL)
        XCTAssertEqual(posix_memalign(&memory, 48, 10), EINVAL)
        XCTAssertNil(memory)
    }

    func testBytesInUseGrowByWhatIsAllocatedAndShrinkByWhatIsFreed() throws {
        try XCTSkipUnless(Memory.canBeMeasured, "a sanitizer has a malloc of its own")
        for size in [1000, 100_000_000] {
            let count = 100_000_000 / size
            let before = Int(CControlBytesInUse())
            let blocks = (0..<count).map { _ in malloc(size) }
            let grown = Int(CControlBytesInUse()) - before
            for block in blocks { free(block) }
            let left = Int(CControlBytesInUse()) - before
            XCTAssertEqual(Double(grown), 100_000_000, accuracy: 5_000_000, "\(size)")
            XCTAssertLessThan(left, 5_000_000, "\(size)")
        }
    }

    func testACoreThatDoesNotExistIsRefusedAndNothingChanges() throws {
        let before = ProcessorCores.available
        XCTAssertFalse(before.isEmpty)
        for (cores, refused) in [([4095], 4095), ([-1], -1), ([.max], Int.max), (before + [4095], 4095)] {
            XCTAssertThrowsError(try ProcessorCores.pinCurrentThread(to: cores)) { error in
                XCTAssertEqual(error as? BenchmarkError, .noSuchCore(refused))
                XCTAssertTrue("\(error)".contains("core \(refused)"), "\(error)")
            }
            XCTAssertEqual(ProcessorCores.available, before)
        }
    }

    func testAPinnedThreadRunsOnThatCoreAndSoDoThoseThatItStarts() throws {
        let core = try XCTUnwrap(ProcessorCores.available.last)
        let found = Locked<[[Int]]>([])
        let isDone = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            try? ProcessorCores.pinCurrentThread(to: [core])
            found.withLock { $0.append(ProcessorCores.available) }
            Thread.detachNewThread {
                found.withLock { $0.append(ProcessorCores.available) }
                isDone.signal()
            }
        }
        XCTAssertEqual(isDone.wait(timeout: .now() + TestTimeout.seconds), .success)
        XCTAssertEqual(found.withLock { $0 }, [[core], [core]])
    }
}
