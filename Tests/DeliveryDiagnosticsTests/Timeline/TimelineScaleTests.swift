import DeliveryRecording
import SharedTesting
import Testing

@testable import DeliveryDiagnostics

/// Tests the positions of times.
@Suite("Timeline scale")
struct TimelineScaleTests {
    @Test("without gaps the scale is linear")
    func even() {
        let scale = TimelineScale(moments: [0, 100, 200, 300, 400], length: 800)
        #expect(scale.cuts.isEmpty)
        #expect([0, 50, 100, 400].map { scale.position(of: $0).rounded() } == [0, 100, 200, 800])
        #expect(
            scale.ticks.map(\.label) == [
                "0", "50 ns", "100 ns", "150 ns", "200 ns", "250 ns", "300 ns", "350 ns", "400 ns",
            ])
    }

    @Test("the time between bursts is cut out, and the bursts get the space")
    func bursts() {
        let bursts = [0, 1_000_000, 2_000_000].flatMap { start in (0..<5).map { Int64(start + $0 * 1000) } }
        let scale = TimelineScale(moments: bursts, length: 800)
        #expect(scale.cuts.map(\.begin) == [4000, 1_004_000])
        #expect(scale.cuts.map(\.end) == [1_000_000, 2_000_000])
        let cut = TimelineScale.cutLength
        #expect(scale.cuts.allSatisfy { ($0.endsAt - $0.beginsAt).rounded() == cut.rounded() })
        #expect(abs(scale.position(of: 4000) - (800 - 2 * cut) / 3) < 1)
        #expect(scale.position(of: 2_004_000).rounded() == 800)
    }

    @Test("a busy time is not cut out")
    func busy() {
        let moments: [Int64] = [0, 10, 20, 1_000_000, 1_000_010, 1_000_020]
        #expect(TimelineScale(moments: moments, length: 800).cuts.count == 1)
        #expect(TimelineScale(moments: moments, busy: [20...1_000_000], length: 800).cuts.isEmpty)
    }

    @Test("gaps of similar lengths are not cut out")
    func allLengths() {
        let moments = (0..<12).map { Int64(1) << $0 }
        #expect(TimelineScale(moments: moments, length: 800).cuts.isEmpty)
    }

    @Test("events close to each other are moved apart in order")
    func apart() {
        let moments: [Int64] = [0, 1, 2, 3, 10_000]
        let positions = moments.map(TimelineScale(moments: moments, length: 800).position)
        #expect(positions == positions.sorted())
        #expect(zip(positions, positions.dropFirst()).allSatisfy { $1 - $0 > 6.9 })
        #expect((positions.last ?? 0).rounded() == 800)
    }

    @Test("a time that is drawn wider than the scale has its factor")
    func stretches() throws {
        let scale = TimelineScale(moments: (0..<12).map { Int64(1) << $0 }, length: 800)
        let stretch = try #require(scale.stretches.first)
        #expect(scale.cuts.isEmpty && scale.stretches.count == 1)
        #expect(stretch.beginsAt == 0 && stretch.endsAt < 100)
        #expect(try #require(Double(stretch.factor)) > 1.5)
        #expect(TimelineScale(moments: [0, 100, 200], length: 800).stretches.isEmpty)
    }

    @Test("ticks ascend, have space for their labels and stay on the line", arguments: 0..<40)
    func ticks(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let span = Int64(1) << Int64.random(in: 0...60, using: &random)
        let moments = (0..<Int.random(in: 0...40, using: &random)).map { _ in Int64.random(in: 0...span, using: &random)
        }
        let scale = TimelineScale(moments: moments, length: 800)
        let positions = scale.ticks.map(\.position)
        #expect(positions.allSatisfy { (0...801).contains($0) })
        #expect(zip(positions, positions.dropFirst()).allSatisfy { $1 - $0 >= 60 })
        #expect(positions.count <= 14)
    }

    @Test("no event, one event, and simultaneous events have a scale")
    func few() {
        #expect(TimelineScale(moments: [], length: 800).ticks.isEmpty)
        #expect(TimelineScale(moments: [7], length: 800).position(of: 7) == 0)
        #expect(TimelineScale(moments: [7, 7], length: 800).position(of: 9) == 0)
    }
}
