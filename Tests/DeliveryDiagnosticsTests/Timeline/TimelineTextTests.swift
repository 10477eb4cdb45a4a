import DeliveryRecording
import Testing
import ThreadedNotifications

@testable import DeliveryDiagnostics

/// Tests the text drawing of a timeline.
@Suite("Timeline text")
struct TimelineTextTests {
    private func text(
        _ program: RecordedProgram, width: Int, symbols: TimelineSymbols = .unicode,
        _ filter: RecordingFilter = .init(), limit: Int? = nil
    ) -> String {
        let index = RecordingIndex(program.recording)
        let selection = try? RecordingSelection(filter, of: index.recording)
        return TimelineText(Timeline(index, selection, limit: limit), width: width, symbols: symbols).text
    }

    @Test("at 80 columns lanes have names, and descriptions are shortened")
    func eighty() {
        #expect(
            text(.slowHandler, width: 80) == """
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

    @Test("at 40 columns names are in steps, and notes are wrapped, not shortened")
    func forty() {
        #expect(
            text(.slowHandler, width: 40) == """
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

    @Test("at 200 columns nothing is shortened")
    func twoHundred() {
        let text = text(.slowHandler, width: 200)
        #expect(!text.contains("…"))
        #expect(
            text.contains(
                "20.374  ×       │       drop     #3     20 ms          PriceDidChange, observer 1, for worker"))
    }

    @Test("ASCII output is the same drawing in ASCII characters only")
    func ascii() {
        var program = RecordedProgram.slowHandler
        program.happens(.log, on: RecordedProgram.thread(3, "café\u{1B}[31m"), message: "naïve × ≤ 東京 \u{1F600}")
        let text = text(program, width: 100, symbols: .ascii)
        #expect(text.utf8.allSatisfy { $0 == UInt8(ascii: "\n") || (0x20..<0x7F).contains($0) })
        #expect(text.contains("|------"))
        #expect(text.contains("deliver  #1     41 us"))
        #expect(text.contains("caf\\u{00E9}\\u{1B}[31m"))
    }

    @Test("a leftward arrow crosses lanes and handlers between")
    func crossing() {
        let (main, one, two) = (RecordedProgram.main, RecordedProgram.thread(2, "A"), RecordedProgram.thread(3, "B"))
        var program = RecordedProgram()
        program.happens(.append, on: main, post: 1, target: one)
        program.happens(.deliver, on: one, post: 1)
        program.happens(.post, on: two, "Test", post: 2)
        program.happens(.append, on: two, "Test", post: 2, observer: 1, target: main)
        program.happens(.deliver, on: main, "Test", post: 2, observer: 1)
        program.happens(.return, on: main, "Test", post: 2, observer: 1)
        program.happens(.append, on: one, post: 3, target: two)
        program.happens(.targetGone, on: two, post: 3)
        let rows = text(program, width: 80).split(separator: "\n").filter { $0.hasPrefix("0.") }
        #expect(
            rows.map { $0.prefix(25).dropFirst(7) } == [
                "●     │           ", "├────▶┏           ", "│     ┃     ●     ", "■◀────╂─────┤     ",
                "│     ┃●    │     ",
                "│     ┠╌╌╌╌▶×     ",
            ])
    }

    @Test("at 80 columns outcomes are complete, and names are shortened in the middle")
    func stalled() {
        let words = text(.stalledWorker, width: 80).split(separator: "\n").map(String.init)
        #expect(words.contains { $0.contains("unobserved, AlarmDidRung") })
        #expect(words.contains { $0.contains("9 still waiting, Temp") }, "\(words)")
        #expect(words.contains { $0.contains(/Temp\w*…\w*ange, observer 1/) }, "\(words)")
        for width in 65...80 {
            let text = text(.stalledWorker, width: width)
            #expect(text.contains("unobserved") && text.contains("9 still waiting"), "\(text)")
        }
    }

    @Test(
        "long descriptions lose the least important parts first",
        arguments: [
            (81, "unobserved, AlarmDidRing, observer 2, at weather/main.swift:14"),
            (61, "unobserved, AlarmDidRing, observer 2, at main.swift:14"),
            (51, "unobserved, AlarmDidRing, observer 2, at …:14"),
            (42, "unobserved, Alar…Ring, observer 2, at …:14"), (40, "unobserved, AlarmDidRing, observer 2"),
            (32, "unobserved, Alar…ing, observer 2"), (15, "unobserved, Al…"), (3, "un…"), (0, ""),
        ])
    func words(width: Int, says: String) {
        var label = Timeline.Label(what: "post", name: "AlarmDidRing", details: ["observer 2"], line: 1)
        label.isUnobserved = true
        label.location = SourceLocation("weather/main.swift", 14)
        let words = TimelineWords(label, symbols: .unicode)
        #expect(words.shortened(to: width) == says)
        #expect(words.whole(in: width) == (width == 81 ? says : nil))
    }

    @Test("notes say what is left out and how to show it")
    func leftOut() {
        let limited = text(.slowHandler, width: 120, limit: 3)
        #expect(limited.contains("10 records left out: --from 231us continues there, --limit 0 draws everything."))
        let later = text(.slowHandler, width: 120, .init(from: 20_000_000))
        #expect(later.contains("5 records before and 0 after the drawing left out"))
        #expect(later.contains("20.335  │       ┃·"), "the handler that began before is seen to run")
        let named = text(.slowHandler, width: 120, .init(name: "TotalDidChange"))
        #expect(named.contains("11 records left out by --name, --thread or --post"))
        // The time in the note is where the next drawing continues.
        let next = text(.slowHandler, width: 120, .init(from: 231_000))
        #expect(next.contains(" 0.231  ●"))
    }

    @Test("200 threads fit 80 columns: the busiest keep their lanes, the others are named")
    func manyThreads() {
        var program = RecordedProgram()
        for number in 1...200 { program.happens(.log, on: RecordedProgram.thread(number), message: "here") }
        let text = text(program, width: 80)
        #expect(text.contains("One lane shows 189 threads that do not fit: thread 12, thread 13,"))
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }
}
