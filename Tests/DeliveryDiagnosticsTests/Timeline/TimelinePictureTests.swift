import DeliveryRecording
import Foundation
import FoundationXML
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

/// Tests the SVG drawing of a timeline.
final class TimelinePictureTests: XCTestCase {
    private func picture(
        _ program: RecordedStory, _ filter: RecordingFilter = .init(), limit: Int? = nil, foldsRuns: Bool = true
    ) throws -> ParsedPicture {
        let index = RecordingIndex(program.recording)
        let selection = try RecordingSelection(filter, of: index.recording)
        return try ParsedPicture(TimelinePicture(Timeline(index, selection, limit: limit, foldsRuns: foldsRuns)).svg)
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
        let svg = TimelinePicture(Timeline(RecordingIndex(RecordedStory.slowHandler.recording))).svg
        let root = try XCTUnwrap(try ParsedPicture(svg).elements.first)
        XCTAssertEqual(root["role"], "img")
        XCTAssertEqual(root["aria-labelledby"], "title description")
        XCTAssertTrue(svg.contains("<title id=\"title\">run.jsonl: 2 threads, 20.4 ms, 19 records</title>"))
        XCTAssertTrue(svg.contains("The longest time from a post to its handler is 20.1 ms."))
        XCTAssertTrue(svg.contains("@media (prefers-color-scheme:dark){"))
        XCTAssertTrue(!svg.contains("<script") && !svg.contains("@import") && !svg.contains("url("))
        XCTAssertEqual(svg.components(separatedBy: "http").count, 2, "nothing is fetched: there is the name space only")
    }

    func testAnyNamesAndMessagesAreVisibleAndLeaveThePictureWellFormed() throws {
        var program = RecordedStory()
        let name = "</text><script>&\"'\u{0}\u{8}\u{1B}[31m\u{FFFE}\u{7F}\u{202E}東京\u{1F600}"
        program.happens(.post, on: RecordedStory.thread(2, name), name, post: 1, message: name)
        program.happens(.deliver, on: RecordedStory.main, name, post: 1, observer: 1, message: name)
        let picture = try picture(program)
        XCTAssertTrue(picture.elements.contains { $0.title.contains("</text><script>&\"'\\0\\u{08}\\u{1B}[31m") })
    }

    func testTimeInWhichNothingLastsIsCutOutAndLabelledALongHandlerIsWholeAndHasItsDuration() throws {
        var program = RecordedStory.slowHandler
        let slow = try picture(program)
        XCTAssertFalse(slow.elements.contains { $0.isOf("tear") })
        let box = try XCTUnwrap(slow.elements.first { $0.isOf("handler") && $0.title.hasPrefix("deliver #1") })
        XCTAssertGreaterThan(try XCTUnwrap(box["width"].flatMap(Double.init)), 400)
        XCTAssertTrue(slow.texts.contains("#1 PriceDidChange 20.2 ms"), "\(slow.texts)")
        program.happens(.log, on: RecordedStory.main, after: 900_000, message: "later")
        let later = try picture(program)
        XCTAssertTrue(later.elements.contains { $0.isOf("tear") } && later.texts.contains("900 ms"))
        let linear = TimelinePicture(Timeline(RecordingIndex(program.recording)), isLinear: true).svg
        XCTAssertFalse(linear.contains("class=\"tear\"") || linear.contains("class=\"stretch\""))
    }

    func testTheLegendExplainsEveryMarkThatIsUsed() throws {
        var program = RecordedStory.stalledWorker
        for stage in DeliveryStage.allCases { program.happens(stage, on: RecordedStory.main, "A", post: 99) }
        let picture = try picture(program)
        let marks = [
            "post", "nobody", "waits", "enqueue", "handler", "open", "wait", "run", "way", "merged", "cross", "stroke",
            "moment",
        ]
        for mark in marks where picture.elements.contains(where: { $0.isOf(mark) && !$0.title.isEmpty }) {
            XCTAssertTrue(picture.elements.contains { $0.isOf(mark) && $0.title.isEmpty }, "\(mark) is in no legend")
        }
    }

    func testARunIsDrawnAsOneBoxWithItsCount() throws {
        var program = RecordedStory()
        for post in 1...300 { program.happens(.post, on: RecordedStory.worker, "Test", post: post, count: 1) }
        for post in 1...300 {
            program.happens(.deliver, on: RecordedStory.main, "Test", post: post, observer: 1)
            program.happens(.return, on: RecordedStory.main, "Test", post: post, observer: 1)
        }
        let picture = try picture(program)
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
        XCTAssertTrue(each.texts.contains("#2 unobserved, AlarmDidRung"), "\(each.texts)")
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
        for seed in 0..<TestRounds.rounds(30, stress: 300) { try checkAxis(seed: seed) }
    }

    private func checkAxis(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var program = RecordedStory()
        let pause = UInt64(1) << UInt64.random(in: 0...30, using: &random)
        for _ in 0..<Int.random(in: 2...9, using: &random) {
            program.happens(.log, on: RecordedStory.main, after: .random(in: 1...pause, using: &random), message: "")
        }
        let svg = TimelinePicture(Timeline(RecordingIndex(program.recording))).svg
        var end = 0.0
        let labels = svg.matches(of: /<text class="muted middle" x="([\d.]+)" y="41">([^<]*)</)
        XCTAssertFalse(labels.isEmpty)
        for label in labels {
            let (x, half) = (try XCTUnwrap(Double(label.1)), Double(label.2.count) * 3.5)
            XCTAssertTrue(x - half >= end)
            end = x + half
        }
        XCTAssertTrue(end <= 955)
    }

    func testInAnyPictureTextsDoNotTouch() throws {
        for seed in 0..<TestRounds.rounds(6, stress: 100) { try checkTexts(seed: seed) }
    }

    private func checkTexts(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var program = RecordedStory()
        for post in 1...40 {
            let name = ["PriceDidChange", "TotalDidChangeAfterAll", "A"].randomElement(using: &random)
            let (main, worker) = (RecordedStory.main, RecordedStory.thread(Int.random(in: 2...4, using: &random)))
            let pause = UInt64(1) << UInt64.random(in: 0...16, using: &random)
            program.happens(.post, on: main, after: pause, name, post: post, count: 1)
            program.happens(.append, on: main, after: 0, name, post: post, observer: 1, target: worker)
            let outcome = [DeliveryStage.deliver, .deliver, .drop, .coalesce].randomElement(using: &random) ?? .drop
            program.happens(outcome, on: worker, after: pause / 2, name, post: post, observer: 1)
            if outcome == .deliver { program.happens(.return, on: worker, after: 3, name, post: post, observer: 1) }
        }
        let svg = TimelinePicture(Timeline(RecordingIndex(program.recording))).svg
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
        var program = RecordedStory()
        for (post, outcome) in [DeliveryStage.coalesce, .cancel, .drop].enumerated() {
            program.happens(.post, on: RecordedStory.main, "A", post: post, count: 1)
            program.happens(outcome, on: RecordedStory.worker, "A", post: post, observer: 1)
        }
        let picture = try picture(program)
        func symbols(_ style: String) -> [String] {
            picture.elements.filter { $0.isOf(style) && $0["d"] != nil && !$0.isOf("way") && !$0.title.isEmpty }
                .map { String($0.title.prefix { $0 != " " }) }
        }
        XCTAssertEqual(symbols("merged"), ["coalesce"])
        XCTAssertEqual(symbols("ended"), ["cancel"])
        XCTAssertEqual(symbols("bad"), ["drop"])
        for meaning in ["coalesced", "cancelled or removed", "lost"] { XCTAssertTrue(picture.texts.contains(meaning)) }
    }

    func testTheAxisShowsWhereItIsStretchedAndByWhichFactor() throws {
        var program = RecordedStory()
        for pause in (0..<12).map({ UInt64(1) << $0 }) {
            program.happens(.log, on: RecordedStory.main, after: pause, message: "\(pause)")
        }
        let picture = try picture(program)
        XCTAssertTrue(
            picture.elements.contains { $0.isOf("stretch") && $0.title.contains("times as wide as the rest") })
        XCTAssertTrue(picture.texts.contains { $0.hasPrefix("×") })
        XCTAssertTrue(picture.texts.contains("time drawn this many times as wide"))
    }
}

/// Parses a picture with an XML parser.
private final class ParsedPicture: NSObject, XMLParserDelegate {
    struct Element {
        var name: String
        var attributes: [String: String]
        /// The tooltip of the element or of its group.
        var title = ""

        subscript(attribute: String) -> String? { attributes[attribute] }

        func isOf(_ style: String) -> Bool {
            attributes["class"]?.split(separator: " ").contains { $0 == style } == true
        }
    }

    struct NotWellFormed: Error {
        var problem: String
    }

    private(set) var elements: [Element] = []
    private(set) var texts: [String] = []
    private var open: [Int] = []
    private var text = ""

    init(_ svg: String) throws {
        super.init()
        let parser = XMLParser(data: Data(svg.utf8))
        parser.delegate = self
        guard parser.parse() else { throw NotWellFormed(problem: "\(parser.parserError.map { "\($0)" } ?? "")") }
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        text = ""
        open.append(elements.count)
        elements.append(Element(name: name, attributes: attributes))
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        let closed = open.removeLast()
        if name == "text" { texts.append(text) }
        if name == "title", let parent = open.last, parent != 0 {
            // The tooltip of a group applies to all its elements.
            for index in parent..<elements.count { elements[index].title = text }
            inherited[parent] = text
        } else if let parent = open.last, let title = inherited[parent], elements[closed].title.isEmpty {
            elements[closed].title = title
        }
    }

    private var inherited: [Int: String] = [:]
}
