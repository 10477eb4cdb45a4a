import DeliveryRecording
import Foundation
import FoundationXML
import SharedTesting
import Testing
import ThreadedNotifications

@testable import DeliveryDiagnostics

/// Tests the SVG drawing of a timeline.
@Suite("Timeline picture")
struct TimelinePictureTests {
    private func picture(
        _ program: RecordedProgram, _ filter: RecordingFilter = .init(), limit: Int? = nil, foldsRuns: Bool = true
    ) throws -> ParsedPicture {
        let index = RecordingIndex(program.recording)
        let selection = try RecordingSelection(filter, of: index.recording)
        return try ParsedPicture(TimelinePicture(Timeline(index, selection, limit: limit, foldsRuns: foldsRuns)).svg)
    }

    @Test("an arrow leads from the mark of a post to the left edge of its handler")
    func arrows() throws {
        let picture = try picture(.slowHandler)
        for (post, latency) in [("#1", "41 µs"), ("#2", "20.1 ms")] {
            let mark = try #require(picture.elements.first { $0.isOf("post") && $0.title.hasPrefix("post \(post)") })
            let handler = try #require(
                picture.elements.first { $0.isOf("handler") && $0.title.hasPrefix("deliver \(post)") })
            let arrow = try #require(picture.elements.first { $0.isOf("way") && $0.title.hasPrefix("deliver \(post)") })
            let numbers = try #require(arrow["d"]).split { "ML ".contains($0) }.compactMap { Double($0) }
            #expect(numbers.count == 4)
            #expect(numbers[0] == mark["cx"].flatMap(Double.init))
            #expect(numbers[1] == mark["cy"].flatMap(Double.init))
            #expect(numbers[2] == handler["x"].flatMap(Double.init))
            let top = try #require(handler["y"].flatMap(Double.init))
            #expect(numbers[3] == top + 13 || numbers[3] == top)
            #expect(arrow.title.contains("\(latency) after its post on main"))
            #expect(picture.texts.contains(latency), "the latency is a label")
        }
    }

    @Test("a nested handler is below the outer one and within its time")
    func nesting() throws {
        let picture = try picture(.slowHandler)
        func frame(_ post: String) throws -> (x: Double, y: Double, right: Double) {
            let handler = try #require(
                picture.elements.first { $0.isOf("handler") && $0.title.hasPrefix("deliver \(post)") })
            let numbers = try ["x", "y", "width"].map { try #require(handler[$0].flatMap(Double.init)) }
            return (numbers[0], numbers[1], numbers[0] + numbers[2])
        }
        let (outer, inner) = (try frame("#2"), try frame("#4"))
        #expect(inner.y > outer.y)
        #expect(inner.x > outer.x && inner.right < outer.right)
    }

    @Test("the picture is self-contained, accessible, and has light and dark colors")
    func document() throws {
        let svg = TimelinePicture(Timeline(RecordingIndex(RecordedProgram.slowHandler.recording))).svg
        let root = try #require(try ParsedPicture(svg).elements.first)
        #expect(root["role"] == "img")
        #expect(root["aria-labelledby"] == "title description")
        #expect(svg.contains("<title id=\"title\">run.jsonl: 2 threads, 20.4 ms, 19 records</title>"))
        #expect(svg.contains("The longest time from a post to its handler is 20.1 ms."))
        #expect(svg.contains("@media (prefers-color-scheme:dark){"))
        #expect(!svg.contains("<script") && !svg.contains("@import") && !svg.contains("url("))
        #expect(svg.components(separatedBy: "http").count == 2, "nothing is fetched: there is the name space only")
    }

    @Test("any names and messages are visible and leave the picture well formed")
    func hostileText() throws {
        var program = RecordedProgram()
        let name = "</text><script>&\"'\u{0}\u{8}\u{1B}[31m\u{FFFE}\u{7F}\u{202E}東京\u{1F600}"
        program.happens(.post, on: RecordedProgram.thread(2, name), name, post: 1, message: name)
        program.happens(.deliver, on: RecordedProgram.main, name, post: 1, observer: 1, message: name)
        let picture = try picture(program)
        #expect(picture.elements.contains { $0.title.contains("</text><script>&\"'\\0\\u{08}\\u{1B}[31m") })
    }

    @Test("long times without events are cut out and labelled with their duration")
    func cuts() throws {
        #expect(try picture(.slowHandler).texts.contains("20 ms"))
        #expect(try picture(.slowHandler, .init(to: 400_000)).texts.contains("20 ms") == false)
    }

    @Test("notes below the picture say what is left out")
    func notes() throws {
        let picture = try picture(.slowHandler, limit: 3)
        #expect(
            picture.texts.contains("10 records left out: --from 231us continues there, --limit 0 draws everything."))
    }

    @Test("a run is drawn as one box with its count")
    func runs() throws {
        var program = RecordedProgram()
        for post in 1...300 { program.happens(.post, on: RecordedProgram.worker, "Test", post: post, count: 1) }
        for post in 1...300 {
            program.happens(.deliver, on: RecordedProgram.main, "Test", post: post, observer: 1)
            program.happens(.return, on: RecordedProgram.main, "Test", post: post, observer: 1)
        }
        let picture = try picture(program)
        #expect(picture.elements.count { $0.isOf("run") && $0.title.contains("300 similar") } == 2)
        #expect(picture.elements.count { $0.isOf("way") && !$0.title.isEmpty } == 1)
        #expect(picture.texts.contains("≤5.99 ms"), "\(picture.texts)")
    }

    @Test("pending notifications are a stub at the post, a number at the thread, and in the legend")
    func stalled() throws {
        let each = try picture(.stalledWorker, foldsRuns: false)
        #expect(each.elements.count { $0.isOf("waits") && $0.title.contains("\n1 still waiting\n") } == 9)
        #expect(each.elements.count { $0.isOf("nobody") && $0.title.hasPrefix("post #2 AlarmDidRung\n") } == 1)
        #expect(each.texts.contains("9 still waiting"))
        #expect(each.texts.contains("#2 unobserved, AlarmDidRung"), "\(each.texts)")
        for meaning in ["unobserved", "still waiting", "handler that runs on"] { #expect(each.texts.contains(meaning)) }
        let folded = try picture(.stalledWorker)
        #expect(folded.texts.contains("#3…#11 post ×9, 9 still waiting"), "\(folded.texts)")
        let good = try picture(.slowHandler).texts
        for meaning in ["unobserved", "still waiting", "handler that runs on"] { #expect(!good.contains(meaning)) }
    }

    @Test("labels of the axis are inside the picture and do not overlap", arguments: 0..<200)
    func axis(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var program = RecordedProgram()
        let pause = UInt64(1) << UInt64.random(in: 0...30, using: &random)
        for _ in 0..<Int.random(in: 2...9, using: &random) {
            program.happens(.log, on: RecordedProgram.main, after: .random(in: 1...pause, using: &random), message: "")
        }
        let svg = TimelinePicture(Timeline(RecordingIndex(program.recording))).svg
        var end = 0.0
        let labels = svg.matches(of: /<text class="muted middle" x="([\d.]+)" y="41">([^<]*)</)
        #expect(!labels.isEmpty)
        for label in labels {
            let (x, half) = (try #require(Double(label.1)), Double(label.2.count) * 3.5)
            #expect(x - half >= end)
            end = x + half
        }
        #expect(end <= 955)
    }

    @Test("a long legend is wrapped")
    func longLegend() {
        let legend = TimelinePicture.Legend(
            entries: Array(repeating: ("<g/>", "something that has a meaning"), count: 6))
        let drawn = legend.svg(top: 10, width: 936)
        #expect(drawn.lines == 2)
        #expect(drawn.svg.contains("translate(16 28)"))
        #expect(TimelinePicture.Legend().svg(top: 10, width: 936).lines == 1)
    }

    @Test("labels that touch neither each other nor the edge are placed, and missing ones are counted")
    func labelPlaces() {
        var labels = PictureLabels(bounds: .init(left: 0, top: 0, right: 200, bottom: 100))
        let wanted: [PictureLabels.Box] = [
            .init(left: 10, top: 10, right: 150, bottom: 20), .init(left: 140, top: 15, right: 190, bottom: 25),
            .init(left: 150, top: 15, right: 190, bottom: 25),
            // Outside the picture.
            .init(left: 190, top: 50, right: 201, bottom: 60),
        ]
        #expect(wanted.map { labels.occupyIfFree($0) } == [true, false, true, false])
        labels.add(
            .init(rank: 0, style: "label", lane: 3, candidates: [.init(text: "here", x: 20, y: 19)], sufficient: 1))
        labels.add(
            .init(rank: 0, style: "label", lane: 4, candidates: [.init(text: "there", x: 20, y: 50)], sufficient: 1))
        #expect(labels.place().count == 1)
        #expect(labels.crowdedLanes == [3] && labels.missing == 1)
    }

    @Test("in any picture texts do not touch", arguments: 0..<30)
    func texts(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var program = RecordedProgram()
        for post in 1...40 {
            let name = ["PriceDidChange", "TotalDidChangeAfterAll", "A"].randomElement(using: &random)
            let (main, worker) = (RecordedProgram.main, RecordedProgram.thread(Int.random(in: 2...4, using: &random)))
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
            let (x, y) = (try #require(Double(text.2)), try #require(Double(text.3)))
            return (left: x, right: x + PictureLabels.width(String(text.4)), y: y, text: text.4)
        }
        #expect(boxes.count > 10)
        for (number, one) in boxes.enumerated() {
            for other in boxes[..<number] where abs(one.y - other.y) < 9 {
                #expect(one.right < other.left || other.right < one.left, "\(one.text) touches \(other.text)")
            }
        }
    }

    @Test("red is for what was lost; coalesced and cancelled notifications have neutral symbols")
    func colors() throws {
        var program = RecordedProgram()
        for (post, outcome) in [DeliveryStage.coalesce, .cancel, .drop].enumerated() {
            program.happens(.post, on: RecordedProgram.main, "A", post: post, count: 1)
            program.happens(outcome, on: RecordedProgram.worker, "A", post: post, observer: 1)
        }
        let picture = try picture(program)
        func symbols(_ style: String) -> [String] {
            picture.elements.filter { $0.isOf(style) && $0["d"] != nil && !$0.isOf("way") && !$0.title.isEmpty }
                .map { String($0.title.prefix { $0 != " " }) }
        }
        #expect(symbols("merged") == ["coalesce"])
        #expect(symbols("ended") == ["cancel"])
        #expect(symbols("bad") == ["drop"])
        for meaning in ["coalesced", "cancelled or removed", "lost"] { #expect(picture.texts.contains(meaning)) }
    }

    @Test("the axis shows where it is stretched, and by which factor")
    func stretches() throws {
        var program = RecordedProgram()
        for pause in (0..<12).map({ UInt64(1) << $0 }) {
            program.happens(.log, on: RecordedProgram.main, after: pause, message: "\(pause)")
        }
        let picture = try picture(program)
        #expect(picture.elements.contains { $0.isOf("stretch") && $0.title.contains("times as wide as the rest") })
        #expect(picture.texts.contains { $0.hasPrefix("×") })
        #expect(picture.texts.contains("time drawn this many times as wide"))
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
