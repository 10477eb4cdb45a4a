import DeliveryRecording
import SharedTesting
import TerminalText
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

/// Draws timelines of invalid recordings.
final class RandomTimelineTests: XCTestCase {
    private func records(_ random: inout SeededGenerator) -> [TestRecord] {
        let names = ["A", "PriceDidChange", "名前", "e\u{301}", "\u{1B}[2J", String(repeating: "long ", count: 60), ""]
        let threads = Int.random(in: 1...40, using: &random)
        let posts = Int.random(in: 1...20, using: &random)
        let stages = Bool.random(using: &random) ? DeliveryStage.allCases : [.post, .append, .deliver, .return]
        var time: UInt64 = 0
        return (0..<Int.random(in: 0...300, using: &random)).map { index in
            time &+= UInt64(1) << UInt64.random(in: 0...(index % 50 == 49 ? 63 : 14), using: &random)
            func maybe<Value>(_ value: Value) -> Value? { Int.random(in: 0...3, using: &random) > 0 ? value : nil }
            func thread() -> ThreadIdentity {
                let number = Int.random(in: 1...threads, using: &random)
                return ThreadIdentity(number: number, name: maybe(names[number % names.count]), kernelID: 1)
            }
            return TestRecord(
                sequence: index + 1, time: time,
                wallTime: .random(in: .min ... .max, using: &random),
                process: ProcessIdentity(id: maybe(1) ?? 2, name: "p"), thread: thread(),
                stage: stages.randomElement(using: &random) ?? .log,
                name: maybe(names.randomElement(using: &random) ?? ""),
                post: maybe(Int.random(in: 1...posts, using: &random)),
                observer: maybe(Int.random(in: 1...3, using: &random)),
                target: maybe(thread()), message: maybe(names.randomElement(using: &random) ?? ""),
                count: maybe(Int.random(in: 0...4, using: &random)),
                relatedPost: maybe(Int.random(in: 1...posts, using: &random)))
        }
    }

    private func filter(_ random: inout SeededGenerator) -> RecordingFilter {
        func maybe<Value>(_ value: Value) -> Value? { Int.random(in: 0...3, using: &random) == 0 ? value : nil }
        return RecordingFilter(
            name: maybe("A"), post: maybe(Int.random(in: 1...21, using: &random)),
            from: maybe(Int64.random(in: 0...100_000, using: &random)) ?? 0,
            to: maybe(Int64.random(in: 100_000...1_000_000, using: &random)) ?? .max)
    }

    func testLinesFitTheWidthThePictureIsWellFormedAndNothingIsLeftOutSilently() {
        for seed in 0..<TestRounds.rounds(15 as UInt64, stress: 1000) { check(seed: seed) }
    }

    private func check(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let recording = Recording(records(&random))
        // A filter of a name or post that the recording does not have selects everything.
        let selection = (try? RecordingSelection(filter(&random), of: recording)) ?? RecordingSelection(all: recording)
        let limit = Bool.random(using: &random) ? nil : Int.random(in: 0...50, using: &random)
        let foldsRuns = Bool.random(using: &random)
        let timeline = Timeline(RecordingIndex(recording), selection, limit: limit, foldsRuns: foldsRuns)
        expectSound(timeline, of: recording, selection, limit, foldsRuns)
        for symbols in [TimelineSymbols.unicode, .ascii] {
            let width = Int.random(in: TimelineText.minimumWidth...220, using: &random)
            let text = TimelineText(timeline, width: width, symbols: symbols)
            for line in text.text.split(separator: "\n") {
                XCTAssertLessThanOrEqual(DisplayWidth.of(String(line)), width, "seed \(seed): \(line)")
                if symbols.isASCII { XCTAssertTrue(line.utf8.allSatisfy { (0x20..<0x7F).contains($0) }, "\(line)") }
            }
        }
        let svg = TimelinePicture(timeline, isLinear: Bool.random(using: &random)).svg
        XCTAssertNoThrow(try ParsedXML(svg), "seed \(seed)")
        XCTAssertFalse(svg.contains("nan") || svg.contains("inf\""), "seed \(seed)")
    }

    private func expectSound(
        _ timeline: Timeline, of recording: Recording, _ selection: RecordingSelection, _ limit: Int?, _ foldsRuns: Bool
    ) {
        let lanes = timeline.lanes.indices
        XCTAssertTrue(timeline.items.allSatisfy { lanes.contains($0.lane) && $0.begin <= $0.end })
        XCTAssertTrue(timeline.items.filter(\.isRun).allSatisfy { $0.count >= 4 })
        XCTAssertTrue(
            timeline.items.compactMap(\.arrow).allSatisfy { lanes.contains($0.lane) && $0.latency.lowerBound >= 0 })
        let times = timeline.rows.map { timeline.time(of: $0) }
        XCTAssertEqual(times, times.sorted())
        XCTAssertTrue(times.allSatisfy(selection.times.contains))
        if let limit { XCTAssertLessThanOrEqual(timeline.rows.count, limit) }
        guard !foldsRuns else { return }
        let drawn = timeline.rows.reduce(0) { sum, row in
            let item = timeline.items[row.item]
            return sum + (row.part == .whole && !item.isMark && item.ending != .notRecorded ? 2 : 1)
        }
        let leftOut = timeline.leftOut
        let counted = leftOut.before + leftOut.after + leftOut.filtered + leftOut.beyondLimit
        let undrawn = leftOut.undrawn.values.reduce(0, +)
        let parts = recording.entries.count { [.append, .capture, .postEnd].contains($0.stage) }
        let total = drawn + counted + undrawn
        XCTAssertTrue((recording.entries.count - parts...recording.entries.count).contains(total))
    }
}
