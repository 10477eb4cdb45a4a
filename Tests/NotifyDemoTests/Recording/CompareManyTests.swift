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

    private func first(_ answer: Answer) -> String? {
        answer.paragraphs.dropFirst().first?.split(separator: "\n").first.map(String.init)
    }

    // MARK: Text logs

    private static let form = #"--form '(?<time>\d+) (?<thread>\d+)/(?<name>\S+) (?<text>.*)'"#

    /// A log of `main start;worker load`, with ids of its own.
    private func log(_ lines: String, seed: Int, equalTimes: Bool = false) -> String {
        lines.split(separator: ";").enumerated().map { number, line in
            let words = line.split(separator: " ", maxSplits: 1)
            return
                "\(equalTimes ? 1 : number) \(words[0].utf8.reduce(seed * 10) { $0 + Int($1) })/\(words[0]) \(words[1])\n"
        }.joined()
    }

    private func compare(logs good: [String], _ bad: [String], _ options: String = "") throws -> Answer {
        try compare(
            good.enumerated().map { log($1, seed: $0) }, bad.enumerated().map { log($1, seed: $0 + 50) },
            "\(Self.form) \(options)")
    }

    private static let usual = "main start;worker load;worker save;main end"

    func testTheFirstAnswerIsTheBestFactThatIsTrueOfAllBadLogsAndOfNoGoodOneOrTheReverse() throws {
        for (bad, answer) in [
            (
                "main start;worker load;main save;main end",
                #""save" is written by main in all 3 bad runs, by worker in all 3 good runs."#
            ),
            (
                "main start;worker load;worker save;worker failed;main end",
                #"In all 3 bad runs and no good run, "failed" is written by worker."#
            ),
            (
                "main start;worker load;main end",
                #"In all 3 good runs and no bad run, "save" is written by worker."#
            ),
            (
                "main start;worker load;worker save;worker save;main end",
                #"In all 3 bad runs and no good run, "save" is written by worker more than once."#
            ),
            (
                "main start;worker save;worker load;main end",
                #"In all 3 bad runs "load" is written directly after "save", in all 3 good runs directly before it."#
            ),
            (
                "worker load;worker save;main start;main end",
                #"In all 3 bad runs "load" is written before "start", in all 3 good runs after it."#
            ),
        ] {
            let found = try compare(
                logs: Array(repeating: Self.usual, count: 3), Array(repeating: bad, count: 3))
            XCTAssertEqual(found.status, 1, found.text)
            XCTAssertEqual(first(found), answer, found.text)
            XCTAssertTrue(found.text.contains("\n  good-1:") && found.text.contains("\n  bad-1:"), found.text)
        }
    }

    func testOrderNeedsThreeRunsOfEachKindTwoLanesAndTwoTimes() throws {
        let late = "worker load;worker save;main start;main end"
        func logs(_ lines: String, _ count: Int, _ seed: Int, equalTimes: Bool = false) -> [String] {
            (0..<count).map { log(lines, seed: seed + $0, equalTimes: equalTimes) }
        }
        for (count, equalTimes) in [(2, false), (3, true)] {
            let found = try compare(
                logs(Self.usual, count, 0, equalTimes: equalTimes), logs(late, count, 50, equalTimes: equalTimes),
                Self.form)
            XCTAssertEqual(found.status, 2, found.text)
            XCTAssertTrue(found.text.hasPrefix("nothing differs between \(count) bad runs and \(count) good runs"))
        }
    }

    func testIfNothingIsTrueOfAllBadRunsTheLargestDifferenceOfRatesIsShownAndTheStatusIs2() throws {
        let failed = "main start;worker load;worker save;worker failed;main end"
        let found = try compare(logs: [Self.usual, Self.usual, Self.usual], [failed, failed, Self.usual])
        XCTAssertEqual(found.status, 2)
        XCTAssertEqual(
            first(found), #"In 2 of 3 bad runs and no good run, "failed" is written by worker."#, found.text)
    }

    func testWhatComesOnlyAfterABetterAnswerOnItsThreadIsCountedNotShown() throws {
        let bad = "main start;worker load;main save;main a;main b;main end"
        let found = try compare(logs: [Self.usual, Self.usual], [bad, bad])
        XCTAssertFalse(found.text.contains("\"a\""), found.text)
        XCTAssertTrue(found.text.contains("differences after these, which may follow."), found.text)
    }

    func testThreadsOfAPoolAreOneRoleAndRunsOfWorkHaveNoOrder() throws {
        // Jobs move between the threads of a pool.
        let good = ["w-1 GET;w-1 read;w-2 GET;w-2 read", "w-2 GET;w-2 read;w-2 GET;w-2 read"]
        let bad = ["w-1 GET;w-1 read;w-2 GET;w-2 read;w-1 write", "w-2 GET;w-2 read;w-1 GET;w-1 read;w-1 write"]
        let found = try compare(logs: good, bad, "--unit GET --pool nothing")
        XCTAssertEqual(first(found), #"In all 2 bad runs and no good run, "write" is written by w-…."#, found.text)
        XCTAssertTrue(found.text.contains("Nothing matches --pool nothing."), found.text)
        XCTAssertFalse(found.text.contains(#"directly after "read""#), found.text)
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

    func testAMessageOfSeveralLinesIsOneText() throws {
        let runs = ["full", "empty"].map { "1/1 save failed\nReason: disk \($0)\n2/1 end\n" }
        let found = try compare(
            [runs[0]], [runs[1]], #"--form '(?<time>\d+)/(?<thread>\d+) (?<text>.*)'"#)
        let sentence = "\n\nIn the bad run and no good run, \"save failed … Reason: disk empty\" is written"
        XCTAssertTrue(found.text.contains(sentence), found.text)
    }

    func testALogThatEndsWithinALineIsOpenAndCountsForNeither() throws {
        let cut = String(log("main start;worker load", seed: 9).dropLast(2))
        let good = (0..<2).map { log(Self.usual, seed: $0) }
        let found = try compare(good, [cut, cut], Self.form)
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
            add(1, #""stage":"deliver",\#(post),\#(observer)"#)
            add(1, #""stage":"return",\#(post),\#(observer)"#)
        }
        if observesLate { observe() }
        add(1, #""stage":"end","reason":"exit""#)
        return lines.map { $0 + "\n" }.joined()
    }

    func testTheFirstAnswerAboutRecordingsOfARaceIsTheOrderOfItsHandlers() throws {
        let good = (0..<6).map { recording(["Settings", "Window"], seed: 100 + $0) }
        let bad = (0..<4).map { recording(["Window", "Settings"], seed: 200 + $0) }
        let found = try compare(good, bad)
        XCTAssertEqual(found.status, 1)
        XCTAssertEqual(
            found.paragraphs.dropFirst().first,
            """
            In all 4 bad runs Settings is handled directly after Window, in all 6 good runs directly before it.
              good-1:8   main deliver #2 Settings observer 1
              good-1:13  main deliver #3 Window observer 2
              bad-1:8    main deliver #2 Window observer 2
              bad-1:13   main deliver #3 Settings observer 1
            """, found.text)
    }

    func testAFindingOfAllBadRecordingsComesFirst() throws {
        let good = (0..<2).map { recording(["Settings", "Window"], seed: 100 + $0) }
        let bad = (0..<2).map { recording(["Settings", "Window"], seed: 200 + $0, observesLate: true) }
        let found = try compare(good, bad)
        XCTAssertEqual(found.status, 1)
        XCTAssertTrue(
            first(found)?.hasPrefix("In all 2 bad runs and no good run, 'diagnose' finds ") == true, found.text)
        XCTAssertTrue(found.text.contains("Settings"), found.text)
    }
}
