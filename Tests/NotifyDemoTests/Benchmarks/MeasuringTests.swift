import CControl
import Foundation
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
}
