import ChildProcesses
import Foundation
import SharedTesting
import XCTest

/// What `compare` says first about two runs.
final class CompareTests: XCTestCase {
    /// The members of each record but its number and time, and thread lines.
    private typealias Lines = [String]

    private static let header = #"{"recording":3,"process":1,"name":"p","n":1,"t":0,"wall":0}"# + "\n"
    private static let threads = [
        #""thread":1,"name":"main","kernelID":1"#, #""thread":2,"name":"worker","kernelID":2"#,
    ]

    private func recording(_ lines: Lines) -> String {
        var (text, number) = (Self.header, 0)
        for line in lines + [#""thread":1,"stage":"end","reason":"exit""#] {
            let isRecord = line.contains("stage")
            number += isRecord ? 1 : 0
            text += isRecord ? "{\"n\":\(number),\"t\":\(number * 1000),\(line)}\n" : "{\(line)}\n"
        }
        return text
    }

    /// Runs shell lines in a directory of their own with files.
    private func shell(_ lines: String, _ files: [String: String]) throws -> Shell.Outcome {
        let directory = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: directory) }
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        for (name, text) in files { try Data(text.utf8).write(to: directory.appending(component: name)) }
        return try Shell.run("cd \(directory.path)\n\(lines)")
    }

    // MARK: Text logs

    func testTheFormOfALogIsSaidOneWithoutThreadsIsRefusedAndHintsDoNotChangeTheStatus() throws {
        func log(_ lines: String...) -> String { lines.map { "2026-11-20 22:05:12.\($0)\n" }.joined() }
        let files = [
            "a": log("001 p[1:10] read", "002 p[1:11] close"), "b": log("001 p[7:21] close", "002 p[7:20] read"),
            "c": log("001 p[1:10] read", "002 p[1:11] open"), "none": "hello\n", "silent": recording(Self.threads),
        ]
        let outcome = try shell(
            """
            for other in a b c none; do notify-demo compare a $other | head -n 1; echo ${PIPESTATUS[0]}; done
            notify-demo compare --json a b | grep -o '"hints":."A hint'; notify-demo compare --mask '(' a a; echo $?
            notify-demo compare a silent; echo $?
            """, files)
        XCTAssertEqual(
            outcome.output,
            "the same: 2 lines by 2 threads\n0\nthe same: 2 lines by 2 threads\n0\nthe runs differ\n1\n2\n"
                + "\"hints\":[\"A hint\n64\n2\n")
        XCTAssertTrue(outcome.errors.hasPrefix("notify-demo: a is read as nslog\n"), outcome.errors)
        for error in [
            "silent: is a recording, and a is a text log.", "none: no line names a thread in a form that was tried.",
            "--mask: \"(\" is not a regular expression: ",
        ] { XCTAssertTrue(outcome.errors.contains(error), outcome.errors) }
    }

    func testARecordingWithoutRecordsDecidesNothing() throws {
        let full = recording(Self.threads + [#""thread":1,"stage":"log","message":"a""#])
        let outcome = try shell(
            """
            for pair in 'one other' 'one full' 'full one'; do
            notify-demo compare $pair > text; echo $? $(grep -o '[a-z]* has no records' text); done
            """, ["one": Self.header, "other": Self.header, "full": full])
        XCTAssertEqual(
            outcome.output,
            "2 it has no records it has no records\n2 it has no records\n2 it has no records\n")
    }

    func testThreadsOfAPoolStandForOneAnotherAndUnnamedThreadsDoNot() throws {
        /// Two posts are handled on the threads of a queue, and a thread of its own posts.
        func run(_ handlers: [Int], isPool: Bool = true, isConcurrent: Bool = false, message: String = "1") -> Lines {
            let pool = isPool ? #","pool":true"# : ""
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
        let answers: [(sentence: String?, Lines, Lines)] = [
            (nil, run([2, 3]), run([2, 3], isConcurrent: true)), (nil, run([2, 3]), run([3, 2])),
            (nil, run([2, 3]), run([3, 2], isConcurrent: true)), (nil, run([2, 3]), run([2, 2])),
            ("The messages differ.", run([2, 3]), run([2, 3], message: "x")),
            (
                "A is handled on thread 3 in one, on thread 2 in other.", run([2, 3], isPool: false),
                run([2, 2], isPool: false)
            ),
        ]
        for (sentence, one, other) in answers {
            let files = ["one": recording(one), "other": recording(other)]
            let outcome = try shell("notify-demo compare one other; echo $?", files)
            let first = outcome.output.components(separatedBy: "Later differences")[0]
            XCTAssertTrue(first.contains(sentence ?? "the same: "), outcome.output)
            XCTAssertTrue(outcome.output.hasSuffix("\n\(sentence == nil ? 0 : 1)\n"), outcome.output)
        }
    }
}
