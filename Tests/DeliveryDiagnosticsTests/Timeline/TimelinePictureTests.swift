import DeliveryRecording
import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

/// Tests the SVG drawing of a timeline.
final class TimelinePictureTests: XCTestCase {
    private func picture(
        _ script: String, foldsRuns: Bool = true, isLinear: Bool = false
    ) throws -> ParsedXML {
        try ParsedXML(svg(RecordedStory(script), foldsRuns: foldsRuns, isLinear: isLinear))
    }

    private func svg(_ story: RecordedStory, foldsRuns: Bool = true, isLinear: Bool = false) -> String {
        TimelinePicture(Timeline(RecordingIndex(story.recording), foldsRuns: foldsRuns), isLinear: isLinear).svg
    }

    func testAnArrowLeadsFromTheMarkOfAPostToTheLeftEdgeOfItsHandler() throws {
        let picture = try picture(.slowHandler)
        for (post, latency) in [("#1", "41 µs"), ("#2", "20.1 ms")] {
            let mark = try XCTUnwrap(picture.elements.first { $0.isOf("post") && $0.title.hasPrefix("post \(post)") })
            let handler = try XCTUnwrap(
                picture.elements.first { $0.isOf("handler") && $0.title.hasPrefix("deliver \(post)") })
            let arrow = try XCTUnwrap(
                picture.elements.first { $0.isOf("way") && $0.title.hasPrefix("deliver \(post)") })
            let numbers = try XCTUnwrap(arrow["d"]).split { "ML ".contains($0) }.compactMap { Double($0) }
            XCTAssertEqual(numbers.count, 4)
            XCTAssertEqual(numbers[0], mark["cx"].flatMap(Double.init))
            XCTAssertEqual(numbers[1], mark["cy"].flatMap(Double.init))
            XCTAssertEqual(numbers[2], handler["x"].flatMap(Double.init))
            let top = try XCTUnwrap(handler["y"].flatMap(Double.init))
            XCTAssertTrue(numbers[3] == top + 13 || numbers[3] == top)
            XCTAssertTrue(arrow.title.contains(latency))
            XCTAssertTrue(picture.texts.contains(latency), "the latency is a label")
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
        story.add(.deliver, on: RecordedStory.main, name, post: 1, observer: 1, message: name)
        let picture = try ParsedXML(svg(story))
        XCTAssertTrue(picture.elements.contains { $0.title.contains("</text><script>&\"'\\0\\u{08}\\u{1B}[31m") })
    }

    func testTimeInWhichNothingLastsIsCutOutAndLabelledALongHandlerIsWholeAndHasItsDuration() throws {
        let slow = try picture(.slowHandler)
        XCTAssertFalse(slow.elements.contains { $0.isOf("tear") })
        let box = try XCTUnwrap(slow.elements.first { $0.isOf("handler") && $0.title.hasPrefix("deliver #1") })
        XCTAssertGreaterThan(try XCTUnwrap(box["width"].flatMap(Double.init)), 400)
        XCTAssertTrue(slow.texts.contains("#1 PriceDidChange 20.2 ms"), "\(slow.texts)")
        let later = "\(String.slowHandler); log - 'later' +900ms"
        let cut = try picture(later)
        XCTAssertTrue(cut.elements.contains { $0.isOf("tear") } && cut.texts.contains("900 ms"))
        XCTAssertTrue(cut.texts.contains("Events close to each other are drawn apart: --linear draws to scale."))
        let linear = try picture(later, isLinear: true)
        XCTAssertFalse(
            linear.elements.contains { $0.isOf("tear") } || linear.texts.contains { $0.contains("--linear") })
    }

    func testTheLegendExplainsEveryMarkThatIsUsed() throws {
        let all = DeliveryStage.allCases.map { "\($0.rawValue) #99 A" }.joined(separator: ";")
        let picture = try picture("\(String.stalledWorker); \(all)")
        let marks = [
            "post", "nobody", "waits", "enqueue", "handler", "open", "wait", "run", "way", "merged", "cross", "stroke",
            "moment",
        ]
        for mark in marks where picture.elements.contains(where: { $0.isOf(mark) && !$0.title.isEmpty }) {
            XCTAssertTrue(picture.elements.contains { $0.isOf(mark) && $0.title.isEmpty }, "\(mark) is in no legend")
        }
    }

    func testARunIsDrawnAsOneBoxWithItsCount() throws {
        let picture = try picture(
            """
            1-300: worker post #* Test n1 +10us
            1-300: deliver #* o1 Test +10us & return #* o1 Test +10us
            """)
        XCTAssertEqual(picture.elements.count { $0.isOf("run") && $0.title.contains("×300") }, 2)
        XCTAssertEqual(picture.elements.count { $0.isOf("way") && !$0.title.isEmpty }, 1)
        XCTAssertTrue(picture.texts.contains("≤5.99 ms"), "\(picture.texts)")
    }

    func testPendingNotificationsAreAStubAtThePostANumberAtTheThreadAndInTheLegend() throws {
        let each = try picture(.stalledWorker, foldsRuns: false)
        XCTAssertEqual(each.elements.count { $0.isOf("waits") && $0.title.contains("1 still waiting") }, 9)
        XCTAssertEqual(
            each.elements.count { $0.isOf("nobody") && $0.title.hasPrefix("post #2\nunobserved, AlarmDidRung") }, 1)
        XCTAssertTrue(each.texts.contains("9 still waiting"))
        XCTAssertTrue(each.texts.contains("#2 AlarmDidRung unobserved"), "\(each.texts)")
        for meaning in ["unobserved", "still waiting", "handler that runs on"] {
            XCTAssertTrue(each.texts.contains(meaning))
        }
        let folded = try picture(.stalledWorker)
        XCTAssertTrue(folded.texts.contains("#3…#11 post ×9, 9 still waiting"), "\(folded.texts)")
        let good = try picture(.slowHandler).texts
        for meaning in ["unobserved", "still waiting", "handler that runs on"] {
            XCTAssertFalse(good.contains(meaning))
        }
    }

    func testLabelsOfTheAxisAreInsideThePictureAndDoNotOverlap() throws {
        for seed in 0..<TestRounds.rounds(30, stress: 300) {
            var random = SeededGenerator(seed: UInt64(seed))
            let pause = UInt64(1) << UInt64.random(in: 0...30, using: &random)
            let logs = (0..<Int.random(in: 2...9, using: &random)).map { _ in
                "log - '' +\(UInt64.random(in: 1...pause, using: &random))us"
            }
            var end = 0.0
            let labels = svg(RecordedStory(logs.joined(separator: ";")))
                .matches(of: /<text class="muted middle" x="([\d.]+)" y="41">([^<]*)</)
            XCTAssertFalse(labels.isEmpty)
            for label in labels {
                let (x, half) = (try XCTUnwrap(Double(label.1)), Double(label.2.count) * 3.5)
                XCTAssertTrue(x - half >= end)
                end = x + half
            }
            XCTAssertTrue(end <= 955)
        }
    }

    func testInAnyPictureTextsDoNotTouch() throws {
        for seed in 0..<TestRounds.rounds(6, stress: 100) { try checkTexts(seed: seed) }
    }

    private func checkTexts(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let records = (1...40).map { post in
            let name = ["PriceDidChange", "TotalDidChangeAfterAll", "A"].randomElement(using: &random) ?? ""
            let (thread, pause) = (
                "t\(Int.random(in: 2...4, using: &random))", 1 << Int.random(in: 0...16, using: &random)
            )
            let outcome = ["deliver", "deliver", "drop", "coalesce"].randomElement(using: &random) ?? ""
            return """
                post #\(post) \(name) n1 +\(pause)us; append #\(post) o1 \(name) >\(thread) +0us
                \(thread) \(outcome) #\(post) o1 \(name) +\(pause / 2)us
                \(outcome == "deliver" ? "\(thread) return #\(post) o1 \(name) +3us" : "")
                """
        }
        let svg = svg(RecordedStory(records.joined(separator: "\n")))
        let pattern = /<text class="(label|label muted|latency c\d|inside)" x="([\d.]+)" y="([\d.]+)">([^<]*)</
        let boxes = try svg.matches(of: pattern).map { text in
            let (x, y) = (try XCTUnwrap(Double(text.2)), try XCTUnwrap(Double(text.3)))
            return (left: x, right: x + PictureLabels.width(String(text.4)), y: y, text: text.4)
        }
        XCTAssertTrue(boxes.count > 10)
        for (number, one) in boxes.enumerated() {
            for other in boxes[..<number] where abs(one.y - other.y) < 9 {
                XCTAssertTrue(one.right < other.left || other.right < one.left, "\(one.text) touches \(other.text)")
            }
        }
    }

    func testRedIsForWhatWasLostCoalescedAndCancelledNotificationsHaveNeutralSymbols() throws {
        let picture = try picture(
            ["coalesce", "cancel", "drop"].enumerated().map { "post #\($0) A n1; worker \($1) #\($0) o1 A" }
                .joined(separator: ";"))
        func symbols(_ style: String) -> [String] {
            picture.elements.filter { $0.isOf(style) && $0["d"] != nil && !$0.isOf("way") && !$0.title.isEmpty }
                .map { String($0.title.prefix { $0 != " " }) }
        }
        XCTAssertEqual(symbols("merged"), ["coalesce"])
        XCTAssertEqual(symbols("ended"), ["cancel"])
        XCTAssertEqual(symbols("bad"), ["drop"])
        for meaning in ["coalesced", "cancelled or removed", "lost"] { XCTAssertTrue(picture.texts.contains(meaning)) }
    }
}
