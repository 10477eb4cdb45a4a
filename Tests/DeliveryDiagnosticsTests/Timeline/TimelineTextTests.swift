import DeliveryRecording
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

/// Tests the text drawing of a timeline.
final class TimelineTextTests: XCTestCase {
    private func text(
        _ program: RecordedStory, width: Int, symbols: TimelineSymbols = .unicode,
        _ filter: RecordingFilter = .init(), limit: Int? = nil
    ) -> String {
        let index = RecordingIndex(program.recording)
        let selection = try? RecordingSelection(filter, of: index.recording)
        return TimelineText(Timeline(index, selection, limit: limit), width: width, symbols: symbols).text
    }

    func testTheFirstLineHasTheTimeOfTheWholeRecordingAndALargeOneItsBusiestSecond() {
        XCTAssertTrue(
            text(.slowHandler, width: 90, .init(to: 300_000)).hasPrefix(
                "4 rows of 19 records, 2 threads, 20.4 ms: run.jsonl\n"))
        XCTAssertEqual(
            TimelineText(Timeline(RecordingIndex(Recording([]))), width: 80).text,
            "0 rows of 0 records, 0 threads, 0 ns: the run")
        var program = RecordedStory()
        for number in 0..<1500 {
            program.happens(.log, on: RecordedStory.main, after: number < 400 ? 10_000 : 1000, message: "\(number)")
        }
        XCTAssertTrue(
            text(program, width: 90, limit: 1).hasPrefix(
                """
                1 row of 1500 records, 1 thread, 5.09 s: run.jsonl
                Busiest second: 1000 records, --from 4s --to 5s.

                """), text(program, width: 90, limit: 1))
    }

    func testThePartAroundTheFirstFindingIsDrawnAndTheTextSaysSo() throws {
        var program = RecordedStory()
        for number in 0..<200 { program.happens(.log, on: RecordedStory.main, message: "\(number)") }
        let (main, worker) = (RecordedStory.main, RecordedStory.worker)
        program.happens(.post, on: main, "Saved", post: 1, count: 1)
        program.happens(.append, on: main, "Saved", post: 1, observer: 1, target: worker)
        program.happens(.targetGone, on: main, "Saved", post: 1, observer: 1, target: worker)
        for number in 0..<200 { program.happens(.log, on: RecordedStory.main, message: "\(number)") }
        program.happens(.end, on: RecordedStory.main, reason: .exit)
        let index = RecordingIndex(program.recording)
        let window = try XCTUnwrap(FindingWindow(Diagnosis(index)))
        let selection = try RecordingSelection(window.filter, of: index.recording)
        let text = TimelineText(Timeline(index, selection, window: window), width: 400).text
        XCTAssertTrue(text.hasPrefix("200 rows of 404 records"), text)
        XCTAssertTrue(text.contains("\nAround the first finding: observer 1 of Saved did not"), text)
        XCTAssertTrue(text.contains("--from 0s draws from the beginning.\n"))
        XCTAssertTrue(text.contains("102 records before and 101 after the drawing left out."), text)
        XCTAssertNil(FindingWindow(Diagnosis(RecordingIndex(RecordedStory.stalledWorker.recording))))
    }

    func testAt80ColumnsLanesHaveNamesAndDescriptionsAreShortened() {
        XCTAssertEqual(
            text(.slowHandler, width: 80),
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
            20.350  │       ┃■      deliver  #4   at once    7 µs  TotalD…Change, observer 2
            20.364  │       ┗       return   #2             20 µs  PriceDidChange
            20.374  ×       │       drop     #3     20 ms  Pric…ange, observer 1, for worker
            20.424  ┴       │       end       exit

            Not drawn: 1 drain, 1 signal.
            """)
    }

    func testAt40ColumnsNamesAreInStepsAndNotesAreWrappedNotShortened() {
        XCTAssertEqual(
            text(.slowHandler, width: 40),
            """
            13 rows of 19 records, 2 threads, 20.4
              ms: run.jsonl

                    main
                    │  worker
                ms  │  │  what     post latency   l…
             0.000  +  │  register  PriceDidChange,…
             0.090  ●  │  post     #1    Price…hange
             0.131  ├─▶┏  deliver  #1     41 µs  Pr…
             0.231  ●  ┃  post     #2    Price…hange
             0.333  ●  ┃  post     #3    Price…hange
                    ┆  ┃  20 ms later
            20.335  │  ┃· log       recomputed 4000…
            20.340  │  ┗  return   #1           20.…
            20.344  ├─▶┏  deliver  #2   20.1 ms  Pr…
            20.349  │  ┃● post     #4    Total…hange
            20.350  │  ┃■ deliver  #4   at once    …
            20.364  │  ┗  return   #2             2…
            20.374  ×  │  drop     #3     20 ms  Pr…
            20.424  ┴  │  end       exit

            Not drawn: 1 drain, 1 signal.
            """)
    }

    func testAt200ColumnsNothingIsShortened() {
        let text = text(.slowHandler, width: 200)
        XCTAssertFalse(text.contains("…"))
        XCTAssertTrue(
            text.contains(
                "20.374  ×       │       drop     #3     20 ms          PriceDidChange, observer 1, for worker"))
    }

    func testASCIIOutputIsTheSameDrawingInASCIICharactersOnly() {
        var program = RecordedStory.slowHandler
        program.happens(.log, on: RecordedStory.thread(3, "café\u{1B}[31m"), message: "naïve × ≤ 東京 \u{1F600}")
        let text = text(program, width: 100, symbols: .ascii)
        XCTAssertTrue(text.utf8.allSatisfy { $0 == UInt8(ascii: "\n") || (0x20..<0x7F).contains($0) })
        XCTAssertTrue(text.contains("|------"))
        XCTAssertTrue(text.contains("deliver  #1     41 us"))
        XCTAssertTrue(text.contains("caf\\u{00E9}\\u{1B}[31m"))
    }

    func testALeftwardArrowCrossesLanesAndHandlersBetween() {
        let (main, one, two) = (RecordedStory.main, RecordedStory.thread(2, "A"), RecordedStory.thread(3, "B"))
        var program = RecordedStory()
        program.happens(.append, on: main, post: 1, target: one)
        program.happens(.deliver, on: one, post: 1)
        program.happens(.post, on: two, "Test", post: 2)
        program.happens(.append, on: two, "Test", post: 2, observer: 1, target: main)
        program.happens(.deliver, on: main, "Test", post: 2, observer: 1)
        program.happens(.return, on: main, "Test", post: 2, observer: 1)
        program.happens(.append, on: one, post: 3, target: two)
        program.happens(.targetGone, on: two, post: 3)
        let rows = text(program, width: 80).split(separator: "\n").filter { $0.hasPrefix("0.") }
        XCTAssertEqual(
            rows.map { $0.prefix(25).dropFirst(7) },
            [
                "●     │           ", "├────▶┏           ", "│     ┃     ●     ", "■◀────╂─────┤     ",
                "│     ┃●    │     ",
                "│     ┠╌╌╌╌▶×     ",
            ])
    }

    func testTheEndOfAThreadEndsTheHandlersThatItWasIn() {
        var program = RecordedStory()
        program.happens(.append, on: RecordedStory.main, post: 1, target: RecordedStory.worker)
        program.happens(.deliver, on: RecordedStory.worker, post: 1)
        program.happens(.threadEnd, on: RecordedStory.worker)
        program.happens(.log, on: RecordedStory.main, message: "later")
        let rows = text(program, width: 80).split(separator: "\n").filter { $0.hasPrefix("0.") }
        XCTAssertEqual(
            rows.map { $0.prefix(20).dropFirst(7) },
            [
                "●       │    ", "├──────▶┏    ", "│       ┃┴   ", "·            ",
            ])
    }

    func testAt80ColumnsOutcomesAreCompleteAndNamesAreShortenedInTheMiddle() {
        let words = text(.stalledWorker, width: 80).split(separator: "\n").map(String.init)
        XCTAssertTrue(words.contains { $0.contains("unobserved, AlarmDidRung") })
        XCTAssertTrue(words.contains { $0.contains("9 still waiting, Temp") }, "\(words)")
        XCTAssertTrue(words.contains { $0.contains(/Temp\w*…\w*ange, observer 1/) }, "\(words)")
        for width in 65...80 {
            let text = text(.stalledWorker, width: width)
            XCTAssertTrue(text.contains("unobserved") && text.contains("9 still waiting"), "\(text)")
        }
    }

    func testLongDescriptionsLoseTheLeastImportantPartsFirst() {
        let label = TimelineLabel(
            what: "post", name: "AlarmDidRing", outcome: "unobserved", details: ["observer 2"],
            location: SourceLocation("weather/main.swift", 14))
        for (width, says) in [
            (81, "unobserved, AlarmDidRing, observer 2, at weather/main.swift:14"),
            (61, "unobserved, AlarmDidRing, observer 2, at main.swift:14"),
            (51, "unobserved, AlarmDidRing, observer 2, at …:14"),
            (42, "unobserved, Alar…Ring, observer 2, at …:14"), (40, "unobserved, AlarmDidRing, observer 2"),
            (32, "unobserved, Alar…ing, observer 2"), (15, "unobserved, Al…"), (3, "un…"), (0, ""),
        ] {
            XCTAssertEqual(label.description(room: width, .unicode), says)
        }
    }

    func testNotesSayWhatIsLeftOutAndHowToShowIt() {
        let limited = text(.slowHandler, width: 120, limit: 3)
        XCTAssertTrue(
            limited.contains("12 records left out: --from 231us continues there, --limit 0 draws everything."))
        let later = text(.slowHandler, width: 120, .init(from: 20_000_000))
        XCTAssertTrue(later.contains("10 records before and 0 after the drawing left out"))
        XCTAssertTrue(later.contains("20.335  │       ┃·"), "the handler that began before is seen to run")
        let named = text(.slowHandler, width: 120, .init(name: "TotalDidChange"))
        XCTAssertTrue(named.contains("16 records left out by --name, --thread or --post"))
        // The time in the note is where the next drawing continues.
        let next = text(.slowHandler, width: 120, .init(from: 231_000))
        XCTAssertTrue(next.contains(" 0.231  ●"))
    }

    func test200ThreadsFit80ColumnsTheBusiestKeepTheirLanesTheOthersAreNamed() {
        var program = RecordedStory()
        for number in 1...200 { program.happens(.log, on: RecordedStory.thread(number), message: "here") }
        let text = text(program, width: 80)
        XCTAssertTrue(text.contains("One lane shows 189 threads that do not fit: thread 12, thread 13,"))
        XCTAssertTrue(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }
}
