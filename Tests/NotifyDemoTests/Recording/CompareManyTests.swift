import ChildProcesses
import Foundation
import SharedTesting
import XCTest

/// What `compare --good --bad` answers.
final class CompareManyTests: XCTestCase {
    private typealias Answer = (paragraphs: [String], status: Int32, text: String)

    /// Runs `compare` in a directory with files.
    private func compare(_ good: [String], _ bad: [String], _ options: String = "") throws -> Answer {
        let directory = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: directory) }
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        for (kind, runs) in [("good", good), ("bad", bad)] {
            for (number, text) in zip(1..., runs) {
                try Data(text.utf8).write(to: directory.appending(component: "\(kind)-\(number)"))
            }
        }
        let outcome = try Shell.run("cd \(directory.path); notify-demo compare --good good-* --bad bad-* \(options)")
        guard case .exit(let status) = outcome.end else { return ([], -1, outcome.errors) }
        return (outcome.output.components(separatedBy: "\n\n"), status, outcome.output + outcome.errors)
    }

    // MARK: Text logs

    private static let usual = "main start;worker load;worker save;main end"
    private static let failed = "main start;worker load;worker save;worker failed;main end"
    private static let late = "worker load;worker save;main start;main end"

    /// Logs of `main start;worker load`, with times and ids of their own. A line without a thread continues the one
    /// before.
    private func compare(
        logs good: [String], _ bad: [String], _ options: String = "", equalTimes: Bool = false, isCut: Bool = false
    ) throws -> Answer {
        func logs(_ runs: [String], _ seed: Int) -> [String] {
            runs.enumerated().map { run, lines in
                lines.split(separator: ";").enumerated().map { number, line in
                    let words = line.split(separator: " ", maxSplits: 1)
                    let id = words[0].utf8.reduce((seed + run) * 10) { $0 + Int($1) }
                    return line.hasPrefix("+")
                        ? "\(line.dropFirst())\n" : "\(equalTimes ? 1 : number) \(id)/\(words[0]) \(words[1])\n"
                }.joined()
            }
        }
        let form = #"--form '(?<time>\d+) (?<thread>\d+)/(?<name>\S+) (?<text>.*)'"#
        let others = logs(bad, 50).map { isCut ? String($0.dropLast(2)) : $0 }
        return try compare(logs(good, 0), others, "\(form) \(options)")
    }

    /// Bad logs in place of the usual ones, how many of each there are, options, and what is said first.
    private static let answers: [(String, count: Int, options: String, String)] = [
        (
            "main start;worker load;main save;main end", 3, "",
            #"In all 3 bad runs and no good run, "save" is written by main."#
        ),
        (failed, 3, "", #"In all 3 bad runs and no good run, "failed" is written by worker."#),
        ("main start;worker load;main end", 3, "", #"In all 3 good runs and no bad run, "save" is written by worker."#),
        (
            "main start;worker load;worker save;worker save;main end", 3, "",
            #"In all 3 bad runs and no good run, "save" is written by worker more than once."#
        ),
        (
            "main start;worker save;worker load;main end", 3, "",
            #"In all 3 bad runs and no good run, "load" is written directly after "save"."#
        ),
        (late, 3, "", #"In all 3 bad runs and no good run, "load" is written before "start"."#),
        // A message of several lines is one text.
        (
            usual + ";+Reason: disk empty", 1, "",
            #"In the bad run and no good run, "end … Reason: disk empty" is written by main."#
        ),
        // Threads of a pool are one role, and runs of work have no order.
        (
            "w-2 load;w-1 save;w-1 write;main start;main end", 2, "--pool '^w|worker' --unit load",
            #"In all 2 bad runs and no good run, "write" is written by ^w|worker."#
        ),
    ]

    func testTheFirstAnswerIsTheBestFactThatIsTrueOfAllBadLogsAndOfNoGoodOneOrTheReverse() throws {
        for (bad, count, options, answer) in Self.answers {
            let found = try compare(
                logs: Array(repeating: Self.usual, count: count), Array(repeating: bad, count: count), options)
            XCTAssertEqual(found.status, 1, found.text)
            XCTAssertEqual(found.paragraphs.dropFirst().first?.components(separatedBy: "\n")[0], answer, found.text)
            XCTAssertTrue(found.text.contains("\n  good-1") && found.text.contains("\n  bad-1"), found.text)
        }
    }

    func testOrderNeedsThreeRunsOfEachKindTwoLanesAndTwoTimes() throws {
        for (count, equalTimes) in [(2, false), (3, true)] {
            let found = try compare(
                logs: Array(repeating: Self.usual, count: count), Array(repeating: Self.late, count: count),
                equalTimes: equalTimes)
            XCTAssertEqual(found.status, 2, found.text)
            XCTAssertTrue(found.text.hasPrefix("nothing differs between \(count) bad runs and \(count) good runs"))
        }
    }

    func testIfNothingIsTrueOfAllBadRunsTheLargestDifferenceOfRatesIsShownAndTheStatusIs2() throws {
        let found = try compare(
            logs: [Self.usual, Self.usual, Self.usual], [Self.failed, Self.failed, Self.usual])
        XCTAssertEqual(found.status, 2)
        let answer = #"In 2 of 3 bad runs and no good run, "failed" is written by worker."#
        XCTAssertTrue(found.paragraphs[1].hasPrefix(answer), found.text)
    }

    func testWhatComesOnlyAfterABetterAnswerOnItsThreadIsCountedNotShown() throws {
        let bad = "main start;worker load;main save;main a;main b;main end"
        let found = try compare(logs: [Self.usual, Self.usual], [bad, bad])
        XCTAssertFalse(found.text.contains("\"a\""), found.text)
        XCTAssertTrue(found.text.contains("differences after these, which may follow."), found.text)
    }

    func testWhatHappensOnAnyThreadIsAnAnswerAlsoIfThreadsCannotBeToldApart() throws {
        /// Threads without names that begin with another line in each run.
        func run(_ seed: Int, _ last: String) -> String {
            "1/1 item \(seed * 2)\n2/2 item \(seed * 2 + 1)\n3/2 \(last)\n"
        }
        let found = try compare(
            (1...2).map { run($0, "end") }, (5...6).map { run($0, "lost") },
            #"--form '(?<time>\d+)/(?<thread>\d+) (?<text>.*)'"#)
        XCTAssertEqual(found.status, 1)
        XCTAssertTrue(found.text.contains(#"In all 2 bad runs and no good run, "lost" is written."#), found.text)
    }

    func testALogThatEndsWithinALineIsOpenAndCountsForNeither() throws {
        let short = "main start;worker load"
        let found = try compare(logs: [Self.usual, Self.usual], [short, short], isCut: true)
        XCTAssertEqual(found.status, 2, found.text)
        XCTAssertTrue(found.text.contains("Records that 2 incomplete runs may lack count for neither."), found.text)
    }

    func testTheAnswersAreOneJSONDocument() throws {
        let bad = "main start;worker load;main save;main end"
        let found = try compare(
            logs: [Self.usual], [bad], "--json | jq -c '.outcome, .answers[0].kind, .answers[0].bad'")
        XCTAssertTrue(found.text.hasPrefix("\"different\"\n\"place\"\n{\"count\":1,\"known\":1}\n"), found.text)
    }

    // MARK: Recordings

    /// A run in which two threads post to main, and the window needs the settings.
    private func recording(_ order: [String], seed: Int, observesLate: Bool = false) -> String {
        var lines = [#"{"recording":3,"process":\#(seed),"name":"p","n":1,"t":0,"wall":0}"#]
        lines.append(#"{"thread":1,"name":"main","kernelID":\#(seed)}"#)
        var number = 0
        func add(_ thread: Int, _ members: String) {
            number += 1
            lines.append("{\"n\":\(number),\"t\":\(number * 1000 + seed),\"thread\":\(thread),\(members)}")
        }
        func observe() {
            for (observer, name) in zip(1..., ["Settings", "Window"]) {
                add(1, #""stage":"register","name":"\#(name)","observer":\#(observer),"target":1"#)
            }
        }
        if !observesLate { observe() }
        for (thread, name) in zip(2..., order) {
            lines.append(#"{"thread":\#(thread),"kernelID":\#(seed + thread)}"#)
            let post = #""name":"\#(name)","post":\#(thread)"#
            add(thread, #""stage":"post",\#(post),"count":\#(observesLate ? 0 : 1)"#)
            guard !observesLate else { continue }
            let observer = #""observer":\#(name == "Settings" ? 1 : 2)"#
            add(thread, #""stage":"append","target":1,\#(post),\#(observer)"#)
            for stage in ["deliver", "return"] { add(1, #""stage":"\#(stage)",\#(post),\#(observer)"#) }
        }
        if observesLate { observe() }
        add(1, #""stage":"end","reason":"exit""#)
        return lines.map { $0 + "\n" }.joined()
    }

    func testTheFirstAnswerAboutRecordingsOfARaceIsTheOrderOfItsHandlersUnlessThereIsAFinding() throws {
        let good = (0..<6).map { recording(["Settings", "Window"], seed: 100 + $0) }
        let found = try compare(good, (0..<4).map { recording(["Window", "Settings"], seed: 200 + $0) })
        XCTAssertEqual(found.status, 1)
        XCTAssertEqual(
            found.paragraphs[1],
            """
            In all 4 bad runs and no good run, Settings is handled directly after Window.
              good-1:13  (in its place) main deliver #3 Window observer 2
              bad-1:8    main deliver #2 Window observer 2
              bad-1:13   main deliver #3 Settings observer 1
            """, found.text)
        let late = try compare(
            good, (0..<2).map { recording(["Settings", "Window"], seed: 200 + $0, observesLate: true) })
        XCTAssertTrue(
            late.paragraphs[1].hasPrefix("In all 2 bad runs and no good run, 'diagnose' finds "), late.text)
        XCTAssertTrue(late.paragraphs[1].contains("Settings"), late.text)
    }
}
