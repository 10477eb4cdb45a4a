import DeliveryRecording
import SharedTesting
import TerminalText
import XCTest

@testable import DeliveryDiagnostics

/// Tests the SVG drawing of a timeline, and both drawings of any recording.
final class TimelinePictureTests: XCTestCase {
    private func svg(_ story: RecordedStory, isLinear: Bool = false) -> String {
        TimelinePicture(Timeline(RecordingIndex(story.recording)), isLinear: isLinear).svg
    }

    private func picture(_ script: String, isLinear: Bool = false) throws -> ParsedXML {
        try ParsedXML(svg(RecordedStory(script), isLinear: isLinear))
    }

    /// The numbers of the path of the shape of a style whose tip begins with some words.
    private func path(_ style: String, _ tip: String, in picture: ParsedXML) throws -> [Double] {
        let shape = try XCTUnwrap(picture.elements.first { $0.isOf(style) && $0.title.hasPrefix(tip) })
        return try XCTUnwrap(shape["d"]).split { "MLmhvzCa ".contains($0) }.compactMap { Double($0) }
    }

    func testAnArrowLeadsFromThePostToTheEdgeOfItsHandlerWhichHasItsLatencyAndDuration() throws {
        let picture = try picture(.slowHandler)
        for post in ["#1", "#2"] {
            let (mark, handler) = (
                try path("post", "post \(post)", in: picture), try path("box", "deliver \(post)", in: picture)
            )
            let arrow = try path("way", "deliver \(post)", in: picture)
            XCTAssertEqual(Array(arrow[..<2]), Array(mark[..<2]))
            XCTAssertEqual(Array(arrow[2...]), [handler[0] - 5.5, handler[1]])
        }
        for text in ["41 µs", "20.1 ms", "20.2 ms", "PriceDidChange, observer 1"] {
            XCTAssertTrue(picture.texts.contains(text), "\(picture.texts)")
        }
    }

    func testThePictureIsSelfContainedAccessibleAndHasLightAndDarkColors() throws {
        let svg = svg(RecordedStory(.slowHandler))
        let root = try XCTUnwrap(try ParsedXML(svg).elements.first)
        XCTAssertEqual(root["role"], "img")
        XCTAssertEqual(root["aria-labelledby"], "title description")
        XCTAssertTrue(svg.contains("<title id=\"title\">run.jsonl: 2 threads, 20.4 ms, 19 records</title>"))
        XCTAssertTrue(svg.contains("The longest time from a post to its handler is 20.1 ms."))
        XCTAssertTrue(svg.contains("@media (prefers-color-scheme:dark){"))
        XCTAssertTrue(!svg.contains("<script") && !svg.contains("@import") && !svg.contains("url("))
        XCTAssertEqual(svg.components(separatedBy: "http").count, 2, "nothing is fetched: there is the name space only")
    }

    func testAnyNamesAndMessagesAreVisibleAndLeaveThePictureWellFormed() throws {
        var story = RecordedStory()
        let name = "</text><script>&\"'\u{0}\u{8}\u{1B}[31m\u{FFFE}\u{7F}\u{202E}東京\u{1F600}"
        story.add(.post, on: RecordedStory.thread(2, name), name, post: 1, message: name)
        let picture = try ParsedXML(svg(story))
        XCTAssertTrue(picture.elements.contains { $0.title.contains("</text><script>&\"'\\0\\u{08}\\u{1B}[31m") })
    }

    func testALinearPictureIsToScaleAndTheOtherSaysThatItIsNot() throws {
        let note = "Events are drawn at equal distances: --linear draws to scale."
        let (equal, linear) = (try picture(.slowHandler), try picture(.slowHandler, isLinear: true))
        XCTAssertTrue(equal.texts.contains(note) && equal.texts.contains("20 ms later"), "\(equal.texts)")
        XCTAssertFalse(linear.texts.contains(note) || linear.texts.contains { $0.hasSuffix("later") })
        let first = try path("post", "post #1", in: linear)[1]
        let (second, drop) = (try path("post", "post #2", in: linear)[1], try path("bad", "drop #3", in: linear)[1])
        let share = (second - first) / (drop - first)
        XCTAssertEqual(share, 0.141 / 20.284, accuracy: 0.001)
        let box = try path("box", "deliver #1", in: linear)
        XCTAssertGreaterThan(box[5], 390, "the handler that the picture is about is as long as it lasted")
    }

    func testTheLegendExplainsEveryMarkThatIsUsed() throws {
        let all = DeliveryStage.allCases.map { "\($0.rawValue) #99 A" }.joined(separator: ";")
        let picture = try picture("\(String.stalledWorker); \(all)")
        for mark in TimelineMark.allCases {
            let style = mark.drawn("", x: 0, y: 0).split(separator: "\"")[1].trimmingCharacters(in: .whitespaces)
            let drawn = picture.elements.filter {
                $0["d"] != nil && ($0["class"] ?? "").replacing(#/ ?c\d$/#, with: "") == style
            }
            if drawn.contains(where: { !$0.title.isEmpty }) {
                XCTAssertTrue(picture.texts.contains(mark.meaning), mark.meaning)
            }
        }
        XCTAssertFalse(try self.picture(.slowHandler).texts.contains("still waiting"))
    }

    func testInAnyRecordingLinesFitTheWidthThePictureIsWellFormedAndNothingIsLeftOutSilently() {
        for seed in 0..<TestRounds.rounds(60 as UInt64, stress: 1000) { check(seed: seed) }
    }

    private func check(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let recording = Recording(RandomRecords.records(Int(seed) * 3, seed: seed))
        let filter = RecordingFilter(
            post: [nil, 1].randomElement(using: &random) ?? nil, from: .random(in: 0...2000, using: &random),
            to: [.max, 1_000_000].randomElement(using: &random) ?? .max)
        let selection = (try? RecordingSelection(filter, of: recording)) ?? RecordingSelection(all: recording)
        let (limit, foldsRuns) = (Int.random(in: 0...300, using: &random), Bool.random(using: &random))
        let width = Int.random(in: TimelineText.minimumWidth...220, using: &random)
        let timeline = Timeline(
            RecordingIndex(recording), selection, limit: limit, foldsRuns: foldsRuns,
            lanes: TimelineText.maximumLanes(width: width))
        expectNothingLeftOutSilently(timeline, selection, limit, foldsRuns)
        for isASCII in [false, true] {
            for line in TimelineText(timeline, width: width, isASCII: isASCII).text.split(separator: "\n") {
                XCTAssertLessThanOrEqual(DisplayWidth.of(String(line)), width, "seed \(seed): \(line)")
                if isASCII { XCTAssertTrue(line.utf8.allSatisfy { (0x20..<0x7F).contains($0) }, "\(line)") }
            }
        }
        let svg = TimelinePicture(timeline, isLinear: Bool.random(using: &random)).svg
        XCTAssertNoThrow(try ParsedXML(svg), "seed \(seed)")
        XCTAssertFalse(svg.contains("nan") || svg.contains("inf\""), "seed \(seed)")
    }

    private func expectNothingLeftOutSilently(
        _ timeline: Timeline, _ selection: RecordingSelection, _ limit: Int, _ foldsRuns: Bool
    ) {
        let times = timeline.rows.map { timeline.time(of: $0) }
        XCTAssertTrue(times.allSatisfy(selection.times.contains) && times.count <= limit)
        guard !foldsRuns else { return }
        let drawn = timeline.rows.reduce(0) { sum, row in
            sum + (row.part == .whole && timeline.items[row.item].lasts ? 2 : 1)
        }
        let leftOut = timeline.leftOut
        let counted = leftOut.before + leftOut.after + leftOut.filtered + leftOut.beyondLimit
        let entries = timeline.recording.entries
        let parts = entries.count { [.append, .capture, .postEnd].contains($0.stage) }
        let total = drawn + counted + leftOut.undrawn.values.reduce(0, +)
        XCTAssertTrue((entries.count - parts...entries.count).contains(total))
    }
}
