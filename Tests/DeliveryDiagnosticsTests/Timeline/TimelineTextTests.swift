import DeliveryRecording
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

/// Tests the text drawing of a timeline.
final class TimelineTextTests: XCTestCase {
    private func text(
        _ script: String, width: Int = 80, post: Int? = nil, from: Int64 = 0, to: Int64 = .max, limit: Int = .max
    ) throws -> String {
        let index = RecordingIndex(RecordedStory(script).recording)
        let selection = try RecordingSelection(post: post, from: from, to: to, of: index)
        let timeline = Timeline(index, selection, limit: limit, lanes: TimelineText.maximumLanes(width: width))
        return TimelineText(timeline, width: width).text
    }

    /// The rows of a drawing, without their times.
    private func rows(_ script: String) throws -> [String] {
        try text(script, width: 120).split(separator: "\n").compactMap {
            $0.firstMatch(of: /^ *\d+\.\d{3}  (.*)/).map { String($0.1) }
        }
    }

    func testARowHasTheTimeTheLanesWithArrowsAndHandlersAndWhatHappens() throws {
        XCTAssertEqual(
            try text(.slowHandler),
            """
            2 threads, 20.4 ms, 19 records, 13 rows: run.jsonl

                ms  main    worker  what     post latency   lasts
             0.000  ·       │       register                      PriceDidChange, observer …
             0.090  ●       │       post     #1                   PriceDidChange, to 1 obse…
             0.131  ├──────▶┏       deliver  #1     41 µs 20.2 ms PriceDidChange, observer 1
             0.231  ●       ┃       post     #2                   PriceDidChange, to 1 obse…
             0.333  ●       ┃       post     #3                   PriceDidChange, to 1 obse…
            20.335  │       ┃·      log                           "recomputed 4000 rows"
            20.340  │       ┗       return   #1           20.2 ms PriceDidChange
            20.344  ├──────▶┏       deliver  #2   20.1 ms   20 µs PriceDidChange, observer 1
            20.349  │       ┃●      post     #4                   TotalDidChange, to 1 obse…
            20.350  │       ┃■      deliver  #4      1 µs    7 µs TotalDidChange, observer 2
            20.364  │       ┗       return   #2             20 µs PriceDidChange
            20.374  ×       │       drop     #3     20 ms         PriceDidChange, observer …
            20.424  ┴       │       end                           "exit"
            """)
    }

    func testTitlesThatDoNotFitAreListed() throws {
        XCTAssertTrue(
            try text(.slowHandler, width: 40).hasPrefix(
                "2 threads, 20.4 ms, 19 records, 13 rows:\n  run.jsonl\nThreads: main, worker.\n\n"))
        let many = try text("1-200: t* log - 'here'")
        XCTAssertTrue(many.contains("t9") && many.contains("others.\n"), many)
        XCTAssertTrue(many.split(separator: "\n").allSatisfy { $0.count <= 80 })
        XCTAssertTrue(try text("").hasPrefix("0 threads, 0 ns, 0 records, 0 rows: run.jsonl\n"))
    }

    func testTheFirstFindingOfALargeRecordingIsPointedOut() throws {
        let logs = "1-200: log - '*' +10us"
        let story = RecordedStory(
            "\(logs); post #1 Saved n1; append #1 o1 Saved >worker; targetGone #1 o1 Saved >worker; \(logs); end - !exit"
        )
        let index = RecordingIndex(story.recording)
        let window = try XCTUnwrap(FindingWindow(Diagnosis(index)))
        let text = TimelineText(Timeline(index, window.selection, window: window), width: 400).text
        XCTAssertTrue(text.contains(" 404 records, 200 rows: "), text)
        XCTAssertTrue(text.contains("\nAround the first finding: 1 notification for observer 1 of Saved"), text)
        XCTAssertTrue(text.contains("--from 0s draws from the beginning.\n"))
        XCTAssertNil(FindingWindow(Diagnosis(RecordingIndex(RecordedStory(.stalledWorker).recording))))
    }

    func testArrowsCrossLanesAndHandlersBetween() throws {
        let rows = try rows(
            """
            append - #1 >t2; t2 deliver - #1; t3 post #2; t3 append #2 o1 >main; deliver #2 o1; return #2 o1
            t2 append - #3 >t3; t3 targetGone - #3; t2 threadEnd -; log - 'later'
            """)
        let lanes = """
            ●     │     │
            ├────▶┏     │
            │     ┃     ●
            ■◀────╂─────┤
            │     ┃●    │
            │     ┠╌╌╌╌▶×
            │     ┴     │
            ·           │
            """
        XCTAssertEqual(
            rows.map { $0.prefix(13).trimmingCharacters(in: .whitespaces) }, lanes.components(separatedBy: "\n"))
    }

    func testRowsShowPendingDeliveriesQueuedPostsAndSimilarOnesTogether() throws {
        let (pending, posts) = (
            "post #1 n3; 1-2: append #1 o* >worker; skip #1 o3; worker deliver #1 o1", "1-5: post #*"
        )
        let table: [(String, Int, String)] = [
            (pending, 0, "1 still waiting, Done, to 3 observers"), (pending, 2, "deliver *#1 *4 ms *runs on"),
            ("worker enqueue #1 >main $whenIdle; main post #1 n1 +300us", 1, "●◀──────┤ *post *#1 *300 µs"),
            ("post #1 n1; deliver #1 o1 +2us; return #1 o1 +2us", 1, "deliver *#1 *2 µs *2 µs"),
            ("\(posts); 1-5: worker deliver #* o1 & worker return #* o1", 1, "deliver ×5 *#1…#5 *9 ms"),
            // Posts without observers are no part of a run, and three are none.
            ("1-4: post #* n0; 5-8: post #* n1", 1, "post ×4 *#5…#8 *3 ms *1 still waiting"),
            ("1-3: post #*", 2, "post *#3"),
            ("append - #1 >worker", 0, "perform *#1 *1 still waiting, block, for worker"),
            ("1-2: enqueue #* Typed; coalesce #1 Typed ~2", 2, "coalesce *#1 *2 ms *Typed"),
            ("post #1; lost - n3", 1, "lost *3 records"),
        ]
        for (script, row, pattern) in table {
            let rows = try rows(script)
            XCTAssertTrue(rows[row].contains(try Regex(pattern)), "\(rows)")
        }
    }

    func testASelectionIncludesCapturesAndWhatBeganEarlierAndALimitSaysHowToGoOn() throws {
        let captured = "post #1; capture #2 n1 ~1; deliver #2 o1; return #2 o1; post #3"
        XCTAssertTrue(try text(captured, post: 1).contains(" 5 records, 3 rows: "))
        let later = try text(.slowHandler, from: 200_000, to: 400_000)
        XCTAssertTrue(later.contains(/0\.231 +● +┃/), later)
        let limited = try text(.slowHandler, width: 120, limit: 3)
        XCTAssertTrue(
            limited.hasSuffix("ends at 3 rows: --from 231us continues there, --limit 0 draws everything."), limited)
    }
}

extension TimelineText {
    var text: String { lines.joined(separator: "\n") }
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
