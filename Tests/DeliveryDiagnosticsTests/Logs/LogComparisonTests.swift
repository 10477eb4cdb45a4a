import DeliveryRecording
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

/// Compares logs that are written in each form.
final class LogComparisonTests: XCTestCase {
    /// A line: its thread's id and name, and its text. The time is the line's number unless all times are equal.
    private struct Line {
        var id: Int
        var name: String
        var text: String

        init(_ line: String) {
            let parts = line.split(separator: " ", maxSplits: 2).map(String.init)
            (id, name, text) = (Int(parts[0]) ?? 0, parts[1], parts[2])
        }
    }

    private struct Form: Sendable {
        var name: String
        var hasIDs = true
        var hasNames = false
        var option: String?
        /// Of a number from 0 to 59 and a line.
        var line: @Sendable (String, Line) -> String
    }

    private static let forms = [
        Form(name: "nslog") { "2026-11-20 22:05:\($0).856 test[865:\($1.id)] \($1.text)" },
        Form(name: "oslog") { "2026-11-20 22:05:\($0).856 Df test[865:\($1.id)] \($1.text)" },
        Form(name: "oslog") {
            "2026-11-20 22:05:\($0).856+0100 0x\($1.id) Default 0x0 865 0 test: \($1.text)"
        },
        Form(name: "logcat") { "11-20 22:05:\($0).856   865 \($1.id) D Tag : \($1.text)" },
        Form(name: "log4j", hasIDs: false, hasNames: true) {
            "2026-11-20 22:05:\($0),856 [\($1.name)] INFO  a.b.C - \($1.text)"
        },
        Form(name: "python", hasIDs: false, hasNames: true) {
            "2026-11-20 22:05:\($0),856 INFO (\($1.name)) \($1.text)"
        },
        Form(name: "gst") { "0:00:\($0).123456789 865 0x\($1.id) INFO GST a.c:1:f: \($1.text)" },
        Form(name: "swift-log", hasNames: true) {
            "2026-11-20T22:05:\($0)+0100 info a: thread={number = \($1.id), name = \($1.name)} [A] \($1.text)"
        },
        Form(name: "--form", hasNames: true, option: #"(?<time>\d+) (?<thread>\d+)/(?<name>\S+) (?<text>.*)"#) {
            "\($0) \($1.id)/\($1.name) \($1.text)"
        },
    ]

    private func log(
        _ name: String, _ lines: [String], _ form: Form, equalTimes: Bool = false, _ options: TextLog.Options
    ) throws -> TextLog {
        var options = options
        if let option = form.option { options.forms = try LogForm.named(option) }
        let text = lines.enumerated().map { number, line in
            line.hasPrefix("+") ? String(line.dropFirst()) : form.line("\(equalTimes ? 10 : number + 10)", Line(line))
        }
        let log = try TextLog(name: name, text: text.map { $0 + "\n" }.joined(), options: options)
        XCTAssertEqual(log.form.name, form.name)
        return log
    }

    private static let nslog = forms[0]
    private static let named = forms[7]

    /// The report of a comparison.
    private func compare(
        _ first: [String], _ second: [String], _ form: Form = nslog, equalTimes: Bool = false, pools: [String] = [],
        _ change: (inout TextLog.Options) -> Void = { _ in }
    ) throws -> String {
        var reading = TextLog.Options()
        change(&reading)
        return try RunComparison(
            log("A", first, form, equalTimes: equalTimes, reading),
            log("B", second, form, equalTimes: equalTimes, reading), pools: pools
        ).description
    }

    private static let program = [
        "101 main start", "102 loader read file", "101 main waits for thread 102", "102 loader close file",
        "101 main end",
    ]

    private static func isSame(_ report: String) -> Bool { report.hasPrefix("the same: ") }

    // MARK: Right answers for each form

    /// Two logs, and the report about them.
    private struct Answer {
        var name: String
        var (first, second): ([String], [String])
        var isSame = true
        /// Texts that the report contains, and texts that it does not.
        var says = ""
        var neverSays: String?
        var fromLine: String?
        var pools: [String] = []
        var equalTimes = false
    }

    private static func answers(_ form: Form) -> [Answer] {
        let renumbered = program.map {
            $0.replacing("101", with: "x").replacing("102", with: "101").replacing("x", with: "203")
        }
        func order(_ numbers: [Int]) -> [String] { numbers.map { program[$0] } }
        let failed = ["101 main start", "102 loader save failed", "+java.lang.NullPointerException", "101 main end"]
        func changed(_ text: String, _ other: String) -> [String] { failed.map { $0.replacing(text, with: other) } }
        let jobs = ["101 main start", "102 worker-1 a", "103 worker-2 b", "102 worker-1 c", "102 worker-1 d"]
        let moved = ["101 main start", "107 worker-2 b", "108 worker-1 a", "107 worker-2 d", "107 worker-2 c"]
        let (pools, pool) = form.hasNames ? ([], "worker-…") : (["10[2378]"], "10[2378]")
        let equal = (0..<4).flatMap { ["\(110 + $0) worker a\($0)", "\(110 + $0) worker b\($0)"] }
        let others = [("a", [3, 2, 1, 0]), ("b", [2, 0, 3, 1])].flatMap { text, numbers in
            numbers.map { "\(120 + $0) worker \(text)\($0)" }
        }
        let reused = ["101 main start", "102 loader a", "102 saver b", "101 main end"]
        let own = ["101 main start", "102 loader a", "103 saver b", "101 main end"]
        let isReused = form.hasIDs && !form.hasNames
        let reuse = "An id in one of the logs is that of several threads."
        // The threads of one name without ids have no order.
        let unordered = "between threads was not compared.\nThe lines of loader were compared without their order"
        return [
            Answer(
                name: "itself", first: program, second: program,
                says: form.hasIDs ? "Each thread did the same; order between threads was not compared." : unordered),
            // A form without ids prints no ids of its own, so the number in a text is not one.
            Answer(name: "renumbered", first: program, second: renumbered, isSame: form.hasIDs),
            Answer(name: "interleaved", first: program, second: order([1, 0, 2, 4, 3])),
            Answer(name: "head cut off", first: program, second: order([2, 3, 4]), isSame: false),
            Answer(name: "from a line", first: program, second: order([2, 3, 4]), fromLine: "waits for"),
            Answer(
                name: "end cut off", first: failed, second: failed.dropLast(), isSame: false, says: "(no counterpart)"),
            Answer(name: "changed", first: failed, second: changed("end", "ends"), isSame: false),
            Answer(
                name: "another exception", first: failed, second: changed("NullPointer", "IllegalState"), isSame: false,
                says: "save failed … java.lang.IllegalStateException"),
            Answer(
                name: "another thread", first: failed, second: changed("102 loader", "101 main"), isSame: false,
                says: "is written by"),
            Answer(
                name: "swapped pool", first: jobs, second: moved,
                says: "The lines of \(pool) were compared without their order", pools: pools),
            Answer(
                name: "lost job", first: jobs, second: moved.dropLast(), isSame: false, says: "Only A has this line.",
                pools: pools),
            Answer(name: "equal names", first: equal, second: others),
            Answer(
                name: "equal names, changed", first: equal, second: others.map { $0.replacing("b3", with: "b4") },
                isSame: false),
            Answer(
                name: "reused id", first: reused, second: own, says: isReused ? reuse : "",
                neverSays: isReused ? nil : reuse),
            Answer(
                name: "id that is reused", first: own, second: reused, says: isReused ? reuse : "",
                neverSays: isReused ? nil : reuse),
            // The main thread's id is its own.
            Answer(
                name: "reused main thread", first: reused,
                second: ["101 main start", "101 main a", "101 main b", "101 main end"], isSame: false),
            Answer(
                name: "another order", first: program, second: order([0, 2, 1, 3, 4]),
                says: "in A (lines 2 and 3), after it in B "),
            Answer(
                name: "equal times", first: program, second: order([0, 2, 1, 3, 4]), neverSays: "hint",
                equalTimes: true),
        ]
    }

    func testTheAnswersAboutEachFormAreRight() throws {
        for form in Self.forms {
            for answer in Self.answers(form) {
                let report = try compare(
                    answer.first, answer.second, form, equalTimes: answer.equalTimes, pools: answer.pools
                ) { $0.fromLine = answer.fromLine }
                let words = "\(form.name), \(answer.name): \(report)"
                XCTAssertEqual(Self.isSame(report), answer.isSame, words)
                XCTAssertTrue(answer.says.isEmpty || report.contains(answer.says), words)
                XCTAssertFalse(answer.neverSays.map(report.contains) ?? false, words)
            }
        }
    }

    // MARK: Threads

    func testTheOrderWithinARunOfWorkOfAPoolIsCompared() throws {
        let first = ["102 w-1 GET a", "103 w-2 GET b", "102 w-1 read", "103 w-2 x", "102 w-1 GET c", "102 w-1 x"]
        let second = ["107 w-2 GET a", "107 w-2 read", "107 w-2 GET c", "107 w-2 x", "108 w-1 GET b", "108 w-1 x"]
        let swapped = [second[1], second[0]] + second[2...]
        for (other, isSame) in [
            (second, true), (second.map { $0.replacing("read", with: "x") }, false), (swapped, false),
        ] {
            let report = try compare(first, other, Self.named) { $0.unit = "GET" }
            XCTAssertEqual(Self.isSame(report), isSame, report)
            XCTAssertTrue(report.contains("The runs of work of w-… were compared without their order"), report)
        }
    }

    func testALineBelongsToItsChainIfTheFormHasOne() throws {
        let form = Form(name: "--form", option: #"(?<thread>\d+) (?<chain>\S+) (?<text>.*)"#) { _, line in
            "\(line.id) \(line.name) \(line.text)"
        }
        let first = ["1 r1 begin x", "2 r2 begin y", "2 r1 end x", "1 r2 end y"]
        XCTAssertTrue(
            Self.isSame(try compare(first, ["1 q7 begin y", "1 q7 end y", "1 q8 begin x", "2 q8 end x"], form)))
        XCTAssertFalse(
            Self.isSame(try compare(first, ["1 q7 begin y", "1 q7 end x", "1 q8 begin x", "2 q8 end y"], form)))
        // A thread is the same one in all chains.
        let mentions = ["10 r1 by thread 10", "10 r2 by thread 10", "20 r3 by thread 20"]
        for (last, isSame) in [("40", true), ("30", false)] {
            let other = ["30 q1 by thread 30", "30 q2 by thread 30", "40 q3 by thread \(last)"]
            XCTAssertEqual(Self.isSame(try compare(mentions, other, form)), isSame)
        }
    }

    func testThreadsThatMentionOneAnotherAreMatchedByThat() throws {
        /// Each thread wakes the next one.
        func ring(_ ids: [Int]) -> [String] {
            ids.indices.map { "\(ids[$0]) - wakes thread \(ids[($0 + 1) % ids.count])" }
        }
        XCTAssertTrue(
            Self.isSame(
                try compare(["100 - start"] + ring([101, 102, 103, 104]), ["9 - start"] + ring([33, 31, 34, 32]))))
        let report = try compare(ring([101, 102, 103, 104]), ring([31, 32]) + ring([33, 34]))
        XCTAssertFalse(Self.isSame(report), report)
    }

    // MARK: Numbers

    func testANumberIsEqualOrAnIdOfACorrespondingThreadOrProcess() throws {
        for (first, second, isSame) in [
            ("on 102", "on 202", true), ("on 102", "on 201", false), ("of process 865", "of process 865", true),
            ("item 102", "item 102", true), ("item 7", "item 8", false), ("on 0x102", "on 0x202", true),
            ("at 0x600000c44000", "at 0x7ffc00001000", true), ("code 0x12", "code 0x13", false),
        ] {
            let report = try compare(["101 - begin", "102 - \(first)"], ["201 - begin", "202 - \(second)"])
            XCTAssertEqual(Self.isSame(report), isSame, "\(first), \(second): \(report)")
        }
        for (text, isSame) in [("on thread %", true), ("tid=%", true), ("item %", false)] {
            let logs = ["2", "3"].map { ["1 - begin", "\($0) - \(text.replacing("%", with: $0))"] }
            XCTAssertEqual(Self.isSame(try compare(logs[0], logs[1])), isSame, text)
        }
    }

    func testWhatIsMaskedIsNotComparedAndTheReportProposesAMask() throws {
        let first = ["101 - took 12 ms", "101 - size=1.5, 3 left", "101 - took 7 ms", "101 - end"]
        let second = ["101 - took 13 ms", "101 - size=2.75, 3 left", "101 - took 8 ms", "101 - end"]
        let report = try compare(first, second)
        XCTAssertTrue(
            report.hasSuffix("Most differences are in digits only. To leave out all numbers: --mask '[0-9][0-9.,:]*'"),
            report)
        for masks in [["[0-9][0-9.,:]*"], ["took [0-9]+", "size=[0-9.]+"]] {
            XCTAssertTrue(Self.isSame(try compare(first, second) { $0.masks = masks }))
        }
        let others = second.map { $0.replacing("took", with: "lasted").replacing("size", with: "length") }
        XCTAssertFalse(try compare(first, others).contains("--mask"))
    }

    func testThreadsInMessagesAreRenamedAndTheMainThreadIsNot() throws {
        for (one, other, isSame) in [
            ("4 - {name = (null), num = 865}", "9 - {number = 1, name = (null)}", true),
            ("4 - {name = w, num = 5}", "9 - {name = w, num = 8}", true),
            ("4 - {number = 2, name = a{b}", "9 - {number = 5, name = a{b}", true),
            ("5 - {name = w, num = 5}", "6 - {name = w, num = 6}", true),
            ("1 - {number = 1, name = main}", "1 - {number = 1, name = w}", false),
            ("1 - {number = 1, name = w}", "1 - {number = 2, name = w}", false),
            ("1 - a {number = 1, name = main}", "1 - a", false),
            ("4 - <NSThread: 0x55d0c8>{number = 12, name = (null)}", "9 - {number = 5, name = (null)}", true),
            ("4 - {name = a, b, num = 7305}", "9 - <_Thread: 0x7f>{name = a, b, num = 7}", true),
            ("4 - {from {number = 3, name = w}}", "9 - {from {number = 8, name = w}}", true),
            ("4 - {number = 12, name = w", "9 - {number = 13, name = w", false),
            ("4 - {name = w, number = 12}", "9 - {name = w, number = 13}", false),
        ] {
            XCTAssertEqual(Self.isSame(try compare([one], [other])), isSame, "\(one), \(other)")
        }
    }

    // MARK: Reports

    /// After so many differences, the rest of a thread's lines is not compared.
    func testAmongManyDifferencesNoLineIsSaidToBeOfAnotherThread() throws {
        func log(_ word: String, _ last: String) -> [String] {
            [("1", "one", last), ("2", "two", "end")].flatMap { id, name, last in
                ["\(name) begins", "\(name) goes on"].map { "\(id) - \($0)" }
                    + (0..<1001).map { "\(id) - \(name) \(word) w\($0)x" } + ["\(id) - \(last)"]
            }
        }
        let report = try compare(log("old", "end"), log("new", "ends"), equalTimes: true)
        XCTAssertTrue(report.hasPrefix("the runs differ\nThe messages differ."), report)
        XCTAssertFalse(report.contains("is written by"), report)
    }

    func testTheDocumentsLogsEqualThemselvesAndDifferFromTheOthers() throws {
        let logs = try ReferenceLog.allCases.map { ($0, try TextLog($0)) }
        for (name, one) in logs {
            for (otherName, other) in logs {
                let comparison = try RunComparison(one, other)
                XCTAssertEqual(comparison.isSameInOrder, name == otherName, comparison.description)
            }
        }
    }

    func testADifferenceShowsBothLinesAndASentence() throws {
        for (first, second, sentence) in [
            (["1 - a"], ["1 - b"], "The messages differ."),
            (["1 - a", "1 - b", "1 - c"], ["1 - a", "1 - c"], "Only A has this line."),
            (["1 - a", "1 - b"], ["1 - b", "1 - a"], "This happens in another order."),
            (
                ["1 - a", "1 - b", "2 - c"], ["1 - a", "2 - b", "2 - c"],
                "\"b\" is written by thread 1 in A, by thread 2 in B."
            ),
        ] {
            let report = try compare(first, second)
            XCTAssertTrue(report.contains("\n\(sentence)"), report)
        }
    }
}
