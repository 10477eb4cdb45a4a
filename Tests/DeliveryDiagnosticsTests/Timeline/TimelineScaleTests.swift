import SharedTesting
import XCTest

@testable import DeliveryDiagnostics

final class TimelineScaleTests: XCTestCase {
    func testWithoutGapsTheScaleIsLinear() {
        let scale = TimelineScale(moments: [0, 100, 200, 300, 400], length: 800)
        XCTAssertTrue(scale.cuts.isEmpty)
        XCTAssertEqual([0, 50, 100, 400].map { scale.position(of: $0).rounded() }, [0, 100, 200, 800])
        XCTAssertEqual(
            scale.ticks.map(\.label),
            ["0", "50 ns", "100 ns", "150 ns", "200 ns", "250 ns", "300 ns", "350 ns", "400 ns"])
    }

    func testTheTimeBetweenBurstsIsCutOutAndTheBurstsGetTheSpace() {
        let bursts = [0, 1_000_000, 2_000_000].flatMap { start in (0..<5).map { Int64(start + $0 * 1000) } }
        let scale = TimelineScale(moments: bursts, length: 800)
        XCTAssertEqual(scale.cuts.map(\.times), [4000...1_000_000, 1_004_000...2_000_000])
        let cut = TimelineScale.cutLength
        XCTAssertTrue(scale.cuts.allSatisfy { ($0.end - $0.begin).rounded() == cut.rounded() })
        XCTAssertEqual(scale.position(of: 4000), (800 - 2 * cut) / 3, accuracy: 1)
        XCTAssertEqual(scale.position(of: 2_004_000), 800, accuracy: 0.5)
    }

    func testABusyTimeIsNotCutOutNorAreGapsOfSimilarLengths() {
        let moments: [Int64] = [0, 10, 20, 1_000_000, 1_000_010, 1_000_020]
        XCTAssertEqual(TimelineScale(moments: moments, length: 800).cuts.count, 1)
        XCTAssertTrue(TimelineScale(moments: moments, busy: [20...1_000_000], length: 800).cuts.isEmpty)
        XCTAssertTrue(TimelineScale(moments: (0..<12).map { Int64(1) << $0 }, length: 800).cuts.isEmpty)
    }

    func testALinearScaleNeitherCutsNorMovesAnythingApart() {
        let scale = TimelineScale(moments: [0, 1, 100_000, 1_000_000], length: 800, isLinear: true)
        XCTAssertTrue(scale.cuts.isEmpty && scale.stretches.isEmpty)
        XCTAssertEqual([1, 100_000, 500_000, 1_000_000].map { scale.position(of: $0).rounded() }, [0, 80, 400, 800])
    }

    func testEventsCloseToEachOtherAreMovedApartInOrder() {
        let moments: [Int64] = [0, 1, 2, 3, 10_000]
        let positions = moments.map(TimelineScale(moments: moments, length: 800).position)
        XCTAssertEqual(positions, positions.sorted())
        XCTAssertTrue(zip(positions, positions.dropFirst()).allSatisfy { $1 - $0 > 6.9 })
        XCTAssertEqual(positions[4], 800, accuracy: 0.5)
    }

    func testTicksAscendHaveSpaceForTheirLabelsAndStayOnTheLine() {
        for seed in 0..<TestRounds.rounds(40 as UInt64, stress: 400) {
            var random = SeededGenerator(seed: seed)
            let span = Int64(1) << Int64.random(in: 0...60, using: &random)
            let count = Int.random(in: 0...40, using: &random)
            let moments = (0..<count).map { _ in Int64.random(in: 0...span, using: &random) }
            let positions = TimelineScale(moments: moments, length: 800).ticks.map(\.position)
            XCTAssertTrue(positions.allSatisfy { (0...801).contains($0) }, "seed \(seed)")
            XCTAssertTrue(zip(positions, positions.dropFirst()).allSatisfy { $1 - $0 >= 60 }, "seed \(seed)")
            XCTAssertLessThanOrEqual(positions.count, 14, "seed \(seed)")
        }
    }

    func testNoEventOneEventAndSimultaneousEventsHaveAScale() {
        XCTAssertTrue(TimelineScale(moments: [], length: 800).ticks.isEmpty)
        XCTAssertEqual(TimelineScale(moments: [7], length: 800).position(of: 7), 0)
        XCTAssertEqual(TimelineScale(moments: [7, 7], length: 800).position(of: 9), 0)
    }
}
