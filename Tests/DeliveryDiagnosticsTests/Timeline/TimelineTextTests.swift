import DeliveryRecording
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

/// Tests the text drawing of a timeline.
final class TimelineTextTests: XCTestCase {
    private func text(
        _ script: String, width: Int = 80, _ filter: RecordingFilter = .init(),
        limit: Int? = nil, foldsRuns: Bool = true
    ) throws -> String {
        let index = RecordingIndex(RecordedStory(script).recording)
        let selection = try RecordingSelection(filter, of: index.recording)
        let timeline = Timeline(
            index, selection, limit: limit, foldsRuns: foldsRuns, lanes: TimelineText.maximumLanes(width: width))
        return TimelineText(timeline, width: width).text
    }

    /// The rows of a drawing, without their times.
    private func rows(_ script: String, foldsRuns: Bool = true) throws -> [String] {
        try text(script, foldsRuns: foldsRuns).split(separator: "\n").compactMap {
            $0.firstMatch(of: /^ *\d+\.\d{3}  (.*)/).map { String($0.1) }
        }
    }

    func testTheFirstLineHasTheTimeOfTheWholeRecordingAndALargeOneItsBusiestSecond() throws {
        XCTAssertTrue(
            try text(.slowHandler, .init(to: 300_000)).hasPrefix(
                "4 rows of 19 records, 2 threads, 20.4 ms: run.jsonl\n"))
        XCTAssertEqual(
            TimelineText(Timeline(RecordingIndex(Recording([]))), width: 80).text,
            "0 rows of 0 records, 0 threads, 0 ns: the run")
        let large = try text("1-400: log - '*' +10ms; 401-1500: log - '*'", limit: 1)
        XCTAssertTrue(
            large.hasPrefix(
                """
                1 row of 1500 records, 1 thread, 5.09 s: run.jsonl
                Busiest second: 1000 records, --from 4s --to 5s.

                """), large)
    }

    func testThePartAroundTheFirstFindingIsDrawnAndTheTextSaysSo() throws {
        let logs = "1-200: log - '*' +10us"
        let story = RecordedStory(
            "\(logs); post #1 Saved n1; append #1 o1 Saved >worker; targetGone #1 o1 Saved >worker; \(logs); end - !exit"
        )
        let index = RecordingIndex(story.recording)
        let window = try XCTUnwrap(FindingWindow(Diagnosis(index)))
        let selection = try RecordingSelection(window.filter, of: index.recording)
        let text = TimelineText(Timeline(index, selection, window: window), width: 400).text
        XCTAssertTrue(text.hasPrefix("200 rows of 404 records"), text)
        XCTAssertTrue(text.contains("\nAround the first finding: 1 notification for observer 1 of Saved"), text)
        XCTAssertTrue(text.contains("--from 0s draws from the beginning.\n"))
        XCTAssertTrue(text.contains("102 records before and 101 after the drawing left out."), text)
        XCTAssertNil(FindingWindow(Diagnosis(RecordingIndex(RecordedStory(.stalledWorker).recording))))
    }

    func testAt80ColumnsLanesHaveNamesAndDescriptionsAreShortened() throws {
        XCTAssertEqual(
            try text(.slowHandler),
            """
            13 rows of 19 records, 2 threads, 20.4 ms: run.jsonl

                ms  main    worker  what     post latency   lasts
             0.000  +       │       register  PriceDidChange, observer 1, for worker
             0.090  ●       │       post     #1                    PriceDidChange
             0.131  ├──────▶┏       deliver  #1     41 µs  PriceDidChange, observer 1
             0.231  ●       ┃       post     #2                    PriceDidChange
             0.333  ●       ┃       post     #3                    PriceDidChange
                    ┆       ┃       20 ms later
            20.335  │       ┃·      log       recomputed 4000 rows
            20.340  │       ┗       return   #1           20.2 ms  PriceDidChange
            20.344  ├──────▶┏       deliver  #2   20.1 ms  PriceDidChange, observer 1
            20.349  │       ┃●      post     #4                    TotalDidChange
            20.350  │       ┃■      deliver  #4   at once    7 µs  TotalDidChange, observer…
            20.364  │       ┗       return   #2             20 µs  PriceDidChange
            20.374  ×       │       drop     #3     20 ms  PriceDidChange, observer 1, for …
            20.424  ┴       │       end       exit

            Not drawn: 1 drain, 1 signal.
            """)
    }

    func testAt40ColumnsNamesAreInStepsAndNotesAreWrappedNotShortened() throws {
        let narrow = try text(.slowHandler, width: 40)
        XCTAssertTrue(
            narrow.hasPrefix(
                """
                13 rows of 19 records, 2 threads, 20.4
                  ms: run.jsonl

                        main
                        │  worker
                    ms  │  │  what     post latency   l…
                 0.000  +  │  register  PriceDidChange,…
                 0.090  ●  │  post     #1    PriceDidCh…
                 0.131  ├─▶┏  deliver  #1     41 µs  Pr…
                """), narrow)
        XCTAssertTrue(narrow.hasSuffix("\n\nNot drawn: 1 drain, 1 signal."), narrow)
        for width in 65...80 {
            let text = try text(.stalledWorker, width: width)
            XCTAssertTrue(text.contains("unobserved") && text.contains("9 still waiting"), text)
        }
        XCTAssertTrue(try text(.stalledWorker).contains("unobserved, AlarmDidRung"))
    }

    func testAt200ColumnsNothingIsShortened() throws {
        let text = try text(.slowHandler, width: 200)
        XCTAssertFalse(text.contains("…"))
        XCTAssertTrue(
            text.contains(
                "20.374  ×       │       drop     #3     20 ms          PriceDidChange, observer 1, for worker"))
    }

    func testASCIIOutputIsTheSameDrawingInASCIICharactersOnly() throws {
        var story = RecordedStory(.slowHandler)
        story.add(
            .log, on: RecordedStory.thread(3, "café\u{1B}[31m"), nil, message: "naïve × ≤ 東京 \u{1F600}",
            after: .microseconds(10))
        let text = TimelineText(Timeline(RecordingIndex(story.recording)), width: 100, isASCII: true).text
        XCTAssertTrue(text.utf8.allSatisfy { $0 == UInt8(ascii: "\n") || (0x20..<0x7F).contains($0) })
        XCTAssertTrue(text.contains("|------"))
        XCTAssertTrue(text.contains("deliver  #1     41 us"))
        XCTAssertTrue(text.contains("caf\\u{00E9}\\u{1B}[31m"))
    }

    // MARK: Arrows and handlers

    func testAnArrowCrossesLanesAndHandlersBetween() throws {
        XCTAssertEqual(
            try rows(
                """
                append - #1 >t2; t2 deliver - #1; t3 post #2; t3 append #2 o1 >main; deliver #2 o1; return #2 o1
                t2 append - #3 >t3; t3 targetGone - #3
                """
            ).map { $0.prefix(18) },
            [
                "●     │           ", "├────▶┏           ", "│     ┃     ●     ", "■◀────╂─────┤     ",
                "│     ┃●    │     ", "│     ┠╌╌╌╌▶×     ",
            ])
    }

    func testTheEndOfAThreadEndsTheHandlersThatItWasIn() throws {
        XCTAssertEqual(
            try rows("append - #1 >worker; worker deliver - #1; worker threadEnd -; log - 'later'").map {
                $0.prefix(13)
            }, ["●       │    ", "├──────▶┏    ", "│       ┃┴   ", "·            "])
        // All threads of a process end with it.
        let ended = try rows("append - #1 >worker; worker deliver - #1; processEnd - !signal11; log - 'later'")
        XCTAssertTrue(ended[1].contains("runs on"), ended[1])
        XCTAssertFalse(ended[3].contains("┃"), ended[3])
    }

    func testAQueuedPostHasAnArrowFromItsEnqueueAndItsDeliveryOneFromThePost() throws {
        let rows = try rows(
            "worker enqueue #1 Idle >main $whenIdle; main post #1 Idle n1 +300us; deliver #1 o1 Idle +2us; return #1 o1 Idle +2us"
        )
        XCTAssertTrue(rows[1].hasPrefix("●◀─────"), rows[1])
        XCTAssertTrue(rows[1].contains(/post +#1 +300 µs/), rows[1])
        XCTAssertTrue(rows[2].contains(/deliver +#1 +at once +2 µs/), rows[2])
    }

    func testPendingDeliveriesAreCountedAtTheirPost() throws {
        let rows = try rows(
            "post #1 n3; 1-2: append #1 o* >worker; skip #1 o3; worker deliver #1 o1")
        XCTAssertTrue(rows[0].contains("1 still waiting, Done, to 3 observers"), rows[0])
        XCTAssertTrue(rows[2].contains("runs on"), rows[2])
    }

    // MARK: Runs and selections

    func testFourOrMoreSimilarRowsAreARunWithTheLongestLatencyThreeAreNot() throws {
        func posts(_ count: Int) -> String {
            """
            1-\(count): post #* Test +10us
            1-\(count): worker deliver #* o1 Test +10us & worker return #* o1 Test +5us
            """
        }
        XCTAssertEqual(try rows(posts(3)).count, 6)
        XCTAssertEqual(try rows(posts(5), foldsRuns: false).count, 10)
        let run = try rows(posts(5))
        XCTAssertEqual(run.count, 2)
        XCTAssertTrue(run[0].contains(/post ×5 +#1…#5/), run[0])
        XCTAssertTrue(run[1].contains(/deliver ×5 +#1…#5 +≤70 µs/), run[1])
        // Posts without observers are no part of it.
        let unobserved = try rows("1-4: post #* n0; 5-8: post #* n1")
        XCTAssertTrue(unobserved[0].contains("unobserved") && unobserved[1].contains("4 still waiting"))
    }

    func testASelectedPostIncludesItsCapturesAndASelectedTimeWhatBeganEarlier() throws {
        let captured = "post #1; capture #2 n1 ~1; deliver #2 o1; return #2 o1; post #3"
        XCTAssertTrue(try text(captured, RecordingFilter(post: 1)).hasPrefix("3 rows of 5 records"))
        let later = try text(.slowHandler, RecordingFilter(from: 200_000, to: 400_000))
        XCTAssertTrue(later.contains("0.231  ●       ┃"), later)
        XCTAssertTrue(later.contains("6 records before and "), later)
    }

    func testNotesSayWhatIsLeftOutAndHowToShowIt() throws {
        let limited = try text(.slowHandler, width: 120, limit: 3)
        XCTAssertTrue(
            limited.contains("12 records left out: --from 231us continues there, --limit 0 draws everything."))
        // The time in the note is where the next drawing continues.
        XCTAssertTrue(try text(.slowHandler, width: 120, .init(from: 231_000)).contains(" 0.231  ●"))
        let named = try text(.slowHandler, width: 120, .init(name: "TotalDidChange"))
        XCTAssertTrue(named.contains("16 records left out by --name, --thread or --post"))
    }

    func test200ThreadsFit80ColumnsTheBusiestKeepTheirLanesTheOthersAreNamed() throws {
        let text = try text("1-200: t* log - 'here'")
        XCTAssertTrue(text.contains(/One lane shows \d+ threads that do not fit: t\d+, t\d+,/), text)
        XCTAssertTrue(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }
}

/// Programs that the tests of timelines draw.
extension String {
    /// A handler that does not return, nine posts that wait for its thread, and one with a misspelt name.
    static let stalledWorker = """
        post #1 TemperatureDidChange n1 +10us; append #1 o1 TemperatureDidChange >worker +10us
        worker deliver #1 o1 TemperatureDidChange >worker +10us; post #2 AlarmDidRung n0 +10us
        3-11: post #* TemperatureDidChange n1 +100ms & append #* o1 TemperatureDidChange >worker +10us
        end - !exit +100ms
        """

    /// Two threads, a few posts, and one slow handler.
    static let slowHandler = """
        register o1 PriceDidChange >worker +10us
        post #1 PriceDidChange n1 +90us; append #1 o1 PriceDidChange >worker +2us; signal >worker +1us
        worker drain - +30us; worker deliver #1 o1 PriceDidChange >worker +8us
        post #2 PriceDidChange n1 +100us; append #2 o1 PriceDidChange >worker +2us
        post #3 PriceDidChange n1 +100us; append #3 o1 PriceDidChange >worker +2us
        worker log - 'recomputed 4000 rows' +20ms; worker return #1 o1 PriceDidChange >worker +5us
        worker deliver #2 o1 PriceDidChange >worker +4us; worker post #4 TotalDidChange n1 +5us
        worker deliver #4 o2 TotalDidChange +1us; worker return #4 o2 TotalDidChange +7us
        worker return #2 o1 PriceDidChange >worker +7us; drop #3 o1 PriceDidChange >worker +10us
        end - !exit +50us
        """
}
