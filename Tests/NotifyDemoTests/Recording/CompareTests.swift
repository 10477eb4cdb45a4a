import ChildProcesses
import Foundation
import SharedTesting
import XCTest

/// What `compare` says first about two recordings.
final class CompareTests: XCTestCase {
    /// The members of each record but its number and time, and thread lines.
    private typealias Lines = [String]

    private func recording(_ lines: Lines) -> String {
        var text = #"{"recording":3,"process":1,"name":"p","n":1,"t":0,"wall":0}"# + "\n"
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
    private func compare(_ one: Lines, _ other: Lines) throws -> (text: String, status: String) {
        let directory = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: directory) }
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        for (name, lines) in [("one", one), ("other", other)] {
            try Data(recording(lines).utf8).write(to: directory.appending(component: name))
        }
        let outcome = try Shell.run("cd \(directory.path) && notify-demo compare one other; echo $?")
        let lines = outcome.output.split(separator: "\n")
        return (lines.dropLast().joined(separator: "\n"), String(lines.last ?? ""))
    }

    /// Asserts a sentence of the first difference.
    private func assertFirst(_ sentence: String, _ one: Lines, _ other: Lines, line: UInt = #line) throws {
        let (text, status) = try compare(one, other)
        XCTAssertEqual(status, "1", text, line: line)
        let first = text.components(separatedBy: "Later differences").first ?? ""
        XCTAssertTrue(first.contains(sentence), text, line: line)
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
            try assertFirst(
                "In one observer 2 of A is removed before what follows from it, in other after that.",
                run(early: true, on: thread), run(early: false, on: thread))
            try assertFirst(
                "In other observer 2 of A is removed before what follows from it, in one after that.",
                run(early: false, on: thread), run(early: true, on: thread))
        }
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
