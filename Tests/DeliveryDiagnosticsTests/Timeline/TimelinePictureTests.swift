import DeliveryRecording
import FoundationXML
import SharedTesting
import TerminalText
import XCTest

@testable import DeliveryDiagnostics

/// Tests the SVG drawing of a timeline, and both drawings of any recording. DocumentsTests has a whole picture.
final class TimelinePictureTests: XCTestCase {
    private func svg(_ script: String, isLinear: Bool = false) -> String {
        TimelinePicture(Timeline(RecordingIndex(RecordedStory(script).recording)), isLinear: isLinear).svg
    }

    func testALinearPictureIsToScale() throws {
        // The vertical positions of posts.
        let ys = svg("post #1; post #2; post #3 +98ms", isLinear: true).matches(of: /class="post c0" d="M\S+ (\d+)m/)
            .prefix(3).compactMap { Double($0.1) }
        XCTAssertEqual(try XCTUnwrap(ys.last) - ys[1], 98 * (ys[1] - ys[0]), accuracy: 100)
    }

    func testAHandlerIsDrawnWithItsDurationWhereverItsPictureBeginsAndEnds() throws {
        let index = RecordingIndex(RecordedStory(.slowHandler).recording)
        let part = try RecordingSelection(from: 200_000, to: 400_000, of: index)
        for (selection, limit) in [(part, Int.max), (RecordingSelection(all: index), 3)] {
            let timeline = Timeline(index, selection, limit: limit)
            XCTAssertEqual(timeline.lanes.map(\.title), ["main", "worker"])
            let picture = TimelinePicture(timeline).svg
            XCTAssertTrue(picture.contains(/class="handler c1" d="M\d+ \d+m-4 \d+v-\d+h8v\d+"/), picture)
            XCTAssertEqual(picture.contains("20.2 ms"), selection.isEverything, picture)
        }
    }

    func testAHandlerThatEndsLastIsClosed() {
        let svg = svg("add o1 A >main; append #1 o1 A >main; deliver #1 o1 A; return #1 o1 A +98ms", isLinear: true)
        XCTAssertTrue(svg.contains(/class="handler c0" d="M\d+ \d+m-4 \d+v-\d+h8v\d+z"/), svg)
    }

    func testNoTextIsLongerThanThePicture() throws {
        let recording = RecordedStory("log - 'a'; log - 'b' +123456789ns").recording
        let svg = TimelinePicture(Timeline(RecordingIndex(recording), limit: 1)).svg
        let width = try XCTUnwrap(svg.firstMatch(of: /width="(\d+)" xml/).flatMap { Int($0.1) })
        for text in svg.matches(of: /x="(\d+)" y="\d+">([^<]+)</) {
            XCTAssertLessThanOrEqual((Int(text.1) ?? 0) + DisplayWidth.of(String(text.2)) * 15 / 2, width, "\(text.2)")
        }
    }

    func testTheLegendExplainsTheMarksThatAreUsed() {
        let all = DeliveryStage.allCases.map { "\($0.rawValue) #99 A" }.joined(separator: ";")
        let (svg, simple) = (svg("\(String.stalledWorker); \(all)"), svg(.slowHandler))
        for mark in TimelineMark.allCases {
            XCTAssertTrue(svg.contains("\"\(mark) c0\"") && svg.contains(">\(mark.rawValue)<"), mark.rawValue)
        }
        XCTAssertTrue(simple.contains(">to its delivery<") && !simple.contains(">enqueue<"))
    }

    func testInAnyRecordingLinesFitTheWidthAndThePictureIsWellFormed() throws {
        for seed in 0..<TestRounds.rounds(60 as UInt64, stress: 1000) {
            var random = SeededGenerator(seed: seed)
            let index = RecordingIndex(Recording(RandomRecords.records(Int(seed) * 3, seed: seed)))
            let selection =
                (try? RecordingSelection(
                    from: .random(in: 0...2000, using: &random),
                    to: [.max, 1_000_000].randomElement(using: &random) ?? .max, of: index))
                ?? RecordingSelection(all: index)
            let (limit, width) = (Int.random(in: 0...300, using: &random), Int.random(in: 40...220, using: &random))
            let timeline = Timeline(
                index, selection, limit: limit, lanes: TimelineText.maximumLanes(width: width))
            XCTAssertTrue(timeline.rows.allSatisfy { selection.contains(index.entry($0.entry)) }, "seed \(seed)")
            XCTAssertLessThanOrEqual(timeline.rows.count, limit, "seed \(seed)")
            for line in TimelineText(timeline, width: width).text.split(separator: "\n") {
                XCTAssertLessThanOrEqual(DisplayWidth.of(String(line)), width, "seed \(seed): \(line)")
            }
            let svg = TimelinePicture(timeline, isLinear: .random(using: &random)).svg
            XCTAssertNoThrow(try XMLDocument(xmlString: svg), "seed \(seed)")
        }
    }
}
