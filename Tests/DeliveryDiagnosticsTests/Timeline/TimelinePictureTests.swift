import DeliveryRecording
import FoundationXML
import SharedTesting
import TerminalText
import XCTest

@testable import DeliveryDiagnostics

/// Tests the SVG drawing of a timeline, and both drawings of any recording.
final class TimelinePictureTests: XCTestCase {
    private func svg(_ script: String, isLinear: Bool = false) -> String {
        TimelinePicture(Timeline(RecordingIndex(RecordedStory(script).recording)), isLinear: isLinear).svg
    }

    func testThePictureHasMarksArrowsBoxesTextsALegendAndLightAndDarkColors() {
        let picture = svg(
            "append #1 - >worker; worker deliver #1 -; pass 20ms; worker return #1 - +2us; post #2 Saved n0")
        let drawn = picture.replacing(#/<style>.*</style>/#, with: "<style/>")
        XCTAssertEqual(
            drawn,
            """
            <svg xmlns="http://www.w3.org/2000/svg" width="656" height="196" viewBox="0 0 656 196" role="img" \
            aria-labelledby="title description">
            <title id="title">run.jsonl: 2 threads, 22 ms, 4 records</title>
            <desc id="description">Time runs downwards. Columns are threads: main, worker.</desc>
            <style/>
            <rect class="ground" width="100%" height="100%" rx="6"/>
            <text class="heading" x="16" y="22">run.jsonl: 2 threads, 22 ms, 4 records</text>
            <path class="grid" d="M28 78L158 78L172 78"/>
            <path class="grid" d="M92 94L158 94L172 94"/>
            <path class="grid" d="M28 126L158 126L172 126"/>
            <text class="lane c0" x="24" y="54">main</text><path class="life c0" d="M28 78V142"/>
            <text class="lane c1" x="88" y="54">worker</text><path class="life c1" d="M92 78V142"/>
            <path class="way c0" d="M28 78L86.5 94"/><path class="head c0" d="M86.5 94l-7.5 1l1.6 -5.8z"/>
            <path class="post c0" d="M28 78m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z"/>
            <path class="box c1" d="M92 94m-4.5 -5h9v10h-9z"/>
            <path class="post c0" d="M28 126m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z"/><path class="nobody c0" d="M28 \
            126m-5 5l10 -10"/>
            <text class="muted end" x="244.4" y="82">0.000 ms</text><text class="c0" x="258.4" \
            y="82">perform</text><text class="" x="325.6" y="82">#1</text><text class="" x="451.2" y="82">block, \
            for worker</text>
            <text class="muted end" x="244.4" y="98">1.000 ms</text><text class="c1" x="258.4" \
            y="98">deliver</text><text class="" x="325.6" y="98">#1</text><text class="end" x="385.2" y="98">1 \
            ms</text><text class="end" x="437.2" y="98">20 ms</text><text class="" x="451.2" y="98">block</text>
            <text class="muted end" x="244.4" y="130">22.002 ms</text><text class="c0" x="258.4" \
            y="130">post</text><text class="" x="325.6" y="130">#2</text><text class="" x="451.2" \
            y="130">unobserved, Saved</text>
            <text class="muted" x="258.4" y="114">21 ms later</text>
            <path class="post c0" d="M27 156m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z"/><text class="muted" x="44" \
            y="160">post</text>
            <path class="post c0" d="M100.2 156m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z"/><path class="nobody c0" \
            d="M100.2 156m-5 5l10 -10"/><text class="muted" x="117.2" y="160">unobserved</text>
            <path class="box c0" d="M214.2 156m-4.5 -6h9v12h-9z"/><text class="muted" x="231.2" y="160">handler</text>
            <path class="way c0" d="M307.8 156m-11 0h16"/><path class="head c0" d="M318.8 156l-7 3l0 -6z"/><text \
            class="muted" x="324.8" y="160">to its delivery, with the latency</text>
            <text class="muted" x="16" y="180">Events are drawn at equal distances: --linear draws to scale.</text>
            </svg>

            """)
        XCTAssertTrue(picture.contains("@media (prefers-color-scheme:dark){"))
    }

    func testALinearPictureIsToScale() throws {
        // The vertical positions of posts.
        let ys = svg("post #1; post #2; post #3 +98ms", isLinear: true).matches(of: /class="post c0" d="M\S+ (\S+)m/)
            .prefix(3).compactMap { Double($0.1) }
        XCTAssertEqual(try XCTUnwrap(ys.last) - ys[1], 98 * (ys[1] - ys[0]), accuracy: 10)
    }

    func testTheLegendExplainsEveryMarkThatIsUsed() {
        let all = DeliveryStage.allCases.map { "\($0.rawValue) #99 A" }.joined(separator: ";")
        let (svg, simple) = (svg("\(String.stalledWorker); \(all)"), svg(.slowHandler))
        for mark in TimelineMark.allCases {
            let style = "\"\(mark.drawn("", x: 0, y: 0).split(separator: "\"")[1])c1\""
            if svg.contains(style) { XCTAssertTrue(svg.contains(">\(mark.meaning)<"), mark.meaning) }
        }
        XCTAssertTrue(svg.contains(">still waiting<") && !simple.contains(">still waiting<"))
    }

    func testInAnyRecordingLinesFitTheWidthAndThePictureIsWellFormed() throws {
        for seed in 0..<TestRounds.rounds(60 as UInt64, stress: 1000) {
            var random = SeededGenerator(seed: seed)
            let recording = Recording(RandomRecords.records(Int(seed) * 3, seed: seed))
            let filter = RecordingFilter(
                from: .random(in: 0...2000, using: &random),
                to: [.max, 1_000_000].randomElement(using: &random) ?? .max)
            let selection = (try? RecordingSelection(filter, of: recording)) ?? RecordingSelection(all: recording)
            let (limit, width) = (Int.random(in: 0...300, using: &random), Int.random(in: 40...220, using: &random))
            let timeline = Timeline(
                RecordingIndex(recording), selection, limit: limit,
                lanes: TimelineText.maximumLanes(width: width))
            let times = timeline.rows.map { timeline.time(of: $0) }
            XCTAssertTrue(times.allSatisfy(selection.times.contains) && times.count <= limit, "seed \(seed)")
            for line in TimelineText(timeline, width: width).text.split(separator: "\n") {
                XCTAssertLessThanOrEqual(DisplayWidth.of(String(line)), width, "seed \(seed): \(line)")
            }
            let svg = TimelinePicture(timeline, isLinear: .random(using: &random)).svg
            XCTAssertNoThrow(try XMLDocument(xmlString: svg), "seed \(seed)")
            XCTAssertFalse(svg.contains("nan") || svg.contains("inf\""), "seed \(seed)")
        }
    }
}
