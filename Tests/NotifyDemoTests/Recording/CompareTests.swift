import ChildProcesses
import Foundation
import SharedTesting
import XCTest

/// What `compare` says first about two recordings.
final class CompareTests: XCTestCase {
    /// The members of each record but its number and time, and thread lines.
    private typealias Lines = [String]

    private static let header = #"{"recording":3,"process":1,"name":"p","n":1,"t":0,"wall":0}"# + "\n"

    private func recording(_ lines: Lines, version: Int = 3) -> String {
        var text = Self.header.replacing(#""recording":3"#, with: #""recording":\#(version)"#)
        var number = 0
        for line in lines + [#""thread":1,"stage":"end","reason":"exit""#] {
            guard line.contains("stage") else {
                text += "{\(line)}\n"
                continue
            }
            number += 1
            text += "{\"n\":\(number),\"t\":\(number * 1000),\(line)}\n"
        }
        return text
    }

    private static let threads = [
        #""thread":1,"name":"main","kernelID":1"#, #""thread":2,"name":"worker","kernelID":2"#,
    ]

    /// The output of `compare`, and its status.
    ///
    /// - Parameter version: that of the first recording.
    private func compare(_ one: Lines, _ other: Lines, version: Int = 3) throws -> (text: String, status: String) {
        let files = ["one": recording(one, version: version), "other": recording(other)]
        let outcome = try shell("notify-demo compare one other; echo $?", files)
        let lines = outcome.output.split(separator: "\n")
        return (lines.dropLast().joined(separator: "\n"), String(lines.last ?? ""))
    }

    /// Runs shell lines in a directory of their own with files.
    private func shell(_ lines: String, _ files: [String: String]) throws -> Shell.Outcome {
        let directory = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: directory) }
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        for (name, text) in files { try Data(text.utf8).write(to: directory.appending(component: name)) }
        return try Shell.run("cd \(directory.path)\n\(lines)")
    }

    /// Asserts a sentence of the first difference.
    private func assertFirst(_ sentence: String, _ one: Lines, _ other: Lines, line: UInt = #line) throws {
        let (text, status) = try compare(one, other)
        XCTAssertEqual(status, "1", text, line: line)
        let first = text.components(separatedBy: "Later differences").first ?? ""
        XCTAssertTrue(first.contains(sentence), text, line: line)
    }

    // MARK: Text logs

    func testTheFormOfALogIsSaidOneWithoutThreadsIsRefusedAndHintsDoNotChangeTheStatus() throws {
        func log(_ lines: String...) -> String { lines.map { "2026-11-20 22:05:12.\($0)\n" }.joined() }
        let files = [
            "a": log("001 p[1:10] read", "002 p[1:11] close"), "b": log("001 p[7:21] close", "002 p[7:20] read"),
            "c": log("001 p[1:10] read", "002 p[1:11] open"), "none": "hello\n",
            "silent": recording(Self.threads),
        ]
        let outcome = try shell(
            """
            for other in a b c none; do notify-demo compare a $other | head -n 1; echo ${PIPESTATUS[0]}; done
            notify-demo compare --json a b | grep -o '"hints":."A hint'; notify-demo compare --mask '(' a a; echo $?
            notify-demo compare --unit x --pool y a b | grep matches; notify-demo compare a silent; echo $?
            """, files)
        XCTAssertEqual(
            outcome.output,
            "the same: 2 lines by 2 threads\n0\nthe same: 2 lines by 2 threads\n0\nthe runs differ\n1\n2\n\"hints\":[\"A hint\n64\n"
                + "Nothing matches --unit x.\nNothing matches --pool y.\n2\n")
        XCTAssertTrue(outcome.errors.contains("silent: is a recording without log messages"), outcome.errors)
        XCTAssertTrue(outcome.errors.hasPrefix("notify-demo: a is read as nslog\n"), outcome.errors)
        XCTAssertTrue(
            outcome.errors.contains("none: its lines are of no form that is known. Tried: oslog, "), outcome.errors)
        XCTAssertTrue(outcome.errors.contains("--mask: \"(\" is not a regular expression: "), outcome.errors)
    }

    // MARK: Other threads

    func testWorkOnAnotherThreadIsSaidBeforeWhatFollowsFromIt() throws {
        /// Two posts of A, whose handlers post B.
        func run(post: Int, handler: Int, _ registration: String = "") -> Lines {
            var lines = Self.threads + [#""thread":1,"stage":"register","name":"A","observer":1\#(registration)"#]
            for number in 1...2 {
                let (A, thread) = (#""name":"A","post":\#(number)"#, #""thread":\#(handler)"#)
                lines.append(#""thread":\#(post),"stage":"post",\#(A),"count":1"#)
                if post != handler {
                    lines.append(#""thread":\#(post),"stage":"append",\#(A),"observer":1,"target":\#(handler)"#)
                }
                lines += [
                    #"\#(thread),"stage":"deliver",\#(A),"observer":1"#,
                    #"\#(thread),"stage":"post","name":"B","post":\#(10 + number),"count":0"#,
                    #"\#(thread),"stage":"return",\#(A),"observer":1"#,
                ]
            }
            return lines
        }
        try assertFirst(
            "A is posted by main in one, by worker in other.", run(post: 1, handler: 1), run(post: 2, handler: 2))
        try assertFirst(
            "The observer of A is for main in one, for worker in other.", run(post: 1, handler: 1, #","target":1"#),
            run(post: 1, handler: 2, #","target":2"#))
        try assertFirst(
            "A is handled on worker in one, on main in other.", run(post: 1, handler: 2), run(post: 1, handler: 1))
        let (text, _) = try compare(run(post: 1, handler: 1), run(post: 2, handler: 2))
        XCTAssertFalse(text.contains("(no counterpart)"), text)
    }

    func testAMessageOnAnotherThreadIsSaidSo() throws {
        func run(_ thread: Int) -> Lines {
            Self.threads + [
                #""thread":1,"stage":"log","message":"start""#, #""thread":2,"stage":"log","message":"begin""#,
                #""thread":\#(thread),"stage":"log","message":"saved""#, #""thread":1,"stage":"log","message":"end""#,
            ]
        }
        try assertFirst("The message is logged on main in one, on worker in other.", run(1), run(2))
    }

    // MARK: Removals

    func testARemovalThatCausesALaterDifferenceComesFirst() throws {
        /// Observer 2 is removed before the post, or at the end.
        func run(early: Bool, on thread: Int) -> Lines {
            let removal = #""thread":\#(thread),"stage":"remove","name":"A","observer":2"#
            var lines = Self.threads
            for observer in 1...2 {
                lines.append(#""thread":1,"stage":"register","name":"A","observer":\#(observer),"target":2"#)
            }
            let observers = early ? [1] : [1, 2]
            lines += early ? [removal] : []
            lines.append(#""thread":1,"stage":"post","name":"A","post":1,"count":\#(observers.count)"#)
            for stage in ["append", "deliver"] {
                for observer in observers {
                    let delivery = #""name":"A","post":1,"observer":\#(observer)"#
                    lines.append(#""thread":\#(stage == "append" ? 1 : 2),"stage":"\#(stage)",\#(delivery),"target":2"#)
                    if stage == "deliver" { lines.append(#""thread":2,"stage":"return",\#(delivery)"#) }
                }
            }
            return lines + (early ? [] : [removal])
        }
        for thread in 1...2 {
            // On main, the post of the other run is where the removal is in this one.
            let (line, names) = (thread == 1 ? 6 : 7, thread == 1 ? ["other", "one"] : ["one", "other"])
            try assertFirst(
                "In one observer 2 of A is removed before the post of #1 (line \(line) of \(names[0])), in other after that.",
                run(early: true, on: thread), run(early: false, on: thread))
            try assertFirst(
                "In other observer 2 of A is removed before the post of #1 (line \(line) of \(names[1])), in one after that.",
                run(early: false, on: thread), run(early: true, on: thread))
        }
    }

    func testARemovalByAnotherThreadExplainsOnlyWhatFollowsFromIt() throws {
        /// Another thread removes observer 2 of two before the post, or after it.
        func run(early: Bool, type: String = "Window", isFoundation: Bool = false) -> Lines {
            let own = isFoundation ? #","foundation":true,"center":"1""# : ""
            let removal = #""thread":2,"stage":"remove","name":"A","observer":2\#(own)"#
            let post = #""thread":1,"name":"A","post":1\#(own)"#
            let observers = isFoundation && !early ? [1, 2] : [1]
            let sent = #","sender":"1f","type":"\#(type)"\#(isFoundation ? "" : #","count":1"#)"#
            var lines = Self.threads
            lines += (1...2).map { #""thread":1,"stage":"register","name":"A","observer":\#($0)\#(own)"# }
            lines += (early ? [removal] : []) + [#"\#(post),"stage":"post"\#(sent)"#]
            for observer in observers {
                lines += ["deliver", "return"].map { #"\#(post),"observer":\#(observer),"stage":"\#($0)""# }
            }
            return lines + [#"\#(post),"stage":"postEnd","count":\#(observers.count)"#] + (early ? [] : [removal])
        }
        XCTAssertEqual(try compare(run(early: true), run(early: false)).status, "0")
        for (one, other) in [(true, false), (false, true)] {
            let (text, _) = try compare(run(early: one), run(early: other, type: "View"))
            XCTAssertTrue(text.hasPrefix("the runs differ\nThe types of the senders differ.\n"), text)
            XCTAssertFalse(text.contains("remove"), text)
        }
        try assertFirst(
            "In one observer 2 of A is removed before the post of #1 (line 7 of one), in other after that.",
            run(early: true, isFoundation: true), run(early: false, isFoundation: true))
        try assertFirst(
            "In other observer 2 of A is removed before the post of #1 (line 7 of other), in one after that.",
            run(early: false, isFoundation: true), run(early: true, isFoundation: true))
    }

    // MARK: Absent fields

    func testWhatOneRecordingDoesNotSayIsNoDifference() throws {
        /// A removal, and a handler on a thread without a name.
        func run(_ reason: String?, pool: Bool = false) -> Lines {
            let delivery = #""name":"A","post":1,"observer":1"#
            return [
                Self.threads[0], #""thread":2,"kernelID":2\#(pool ? #","pool":true"# : "")"#,
                #""thread":1,"stage":"register","name":"A","observer":1,"target":2"#,
                #""thread":1,"stage":"post","name":"A","post":1,"count":1"#,
                #""thread":1,"stage":"append","target":2,\#(delivery)"#, #""thread":2,"stage":"deliver",\#(delivery)"#,
                #""thread":2,"stage":"return",\#(delivery)"#,
                #""thread":1,"stage":"remove","name":"A","observer":1\#(reason.map { #","reason":"\#($0)""# } ?? "")"#,
            ]
        }
        for reason in [nil, "cancelled", "released"] {
            for version in [2, 3] {
                let (text, _) = try compare(run(nil), run(reason, pool: true), version: version)
                XCTAssertEqual(text, "the same: 6 records by 2 threads")
                XCTAssertEqual(try compare(run(reason, pool: true), run(nil), version: version).status, "0")
            }
            try assertFirst("The details differ.", run(reason), run("alreadyRemoved"))
        }
        try assertFirst("The details differ.", run("cancelled"), run("released"))
    }

    func testARecordingWithoutRecordsDecidesNothing() throws {
        let full = recording(Self.threads + [#""thread":1,"stage":"log","message":"a""#])
        let outcome = try shell(
            """
            for pair in 'one other' 'one full' 'full one'; do for order in '' --exact; do
            notify-demo compare $order $pair > text; echo $? $(grep -o '[a-z]* has no records' text); done; done
            """, ["one": Self.header, "other": Self.header, "full": full])
        let both = String(repeating: "2 one has no records other has no records\n", count: 2)
        XCTAssertEqual(outcome.output, both + String(repeating: "2 one has no records\n", count: 4))
    }

    // MARK: Pools

    func testThreadsOfAPoolStandForOneAnotherAndUnnamedThreadsDoNot() throws {
        /// Two posts are handled on the threads of a queue, and a thread of its own posts.
        func run(_ handlers: [Int], areInPool: Bool, isConcurrent: Bool = false, message: String = "1") -> Lines {
            let pool = areInPool ? #","pool":true"# : ""
            var lines = [Self.threads[0]] + (2...3).map { #""thread":\#($0),"kernelID":\#($0)\#(pool)"# }
            lines.append(#""thread":1,"stage":"register","name":"A","observer":1,"foundation":true,"queue":"5""#)
            var (begins, ends): (Lines, Lines) = ([], [])
            for (number, thread) in zip(1..., handlers) {
                let delivery = #""thread":\#(thread),"post":\#(number),"observer":1,"foundation":true"#
                lines.append(#""thread":1,"stage":"post","name":"A","post":\#(number),"foundation":true,"center":"1""#)
                begins += [
                    #"\#(delivery),"stage":"deliver""#,
                    #""thread":\#(thread),"stage":"log","message":"\#(number == 1 ? message : "2")""#,
                ]
                ends.append(#"\#(delivery),"stage":"return""#)
                if !isConcurrent {
                    lines += begins + ends
                    (begins, ends) = ([], [])
                }
                lines.append(#""thread":1,"stage":"postEnd","post":\#(number),"count":1,"foundation":true"#)
            }
            lines += begins + ends
            lines.append(#""thread":\#(handlers[0]),"stage":"post","name":"Own","post":9,"count":0"#)
            return lines
        }
        for handlers in [[2, 3], [3, 2], [2, 2]] {
            for isConcurrent in [false, true] where handlers != [2, 2] || !isConcurrent {
                let (text, status) = try compare(
                    run([2, 3], areInPool: true), run(handlers, areInPool: true, isConcurrent: isConcurrent))
                XCTAssertEqual(status, "0", "\(handlers) \(text)")
            }
        }
        XCTAssertEqual(
            try compare(run([2, 3], areInPool: true), run([2, 3], areInPool: true, message: "x")).status, "1")
        XCTAssertEqual(try compare(run([2, 3], areInPool: false), run([2, 2], areInPool: false)).status, "1")
    }
}
