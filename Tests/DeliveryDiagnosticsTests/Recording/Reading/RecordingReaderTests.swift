import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DeliveryRecording

/// Reads recordings. A valid line is read as it was written, an invalid one is reported with its number, and every
/// readable line is kept.
final class RecordingReaderTests: XCTestCase {
    private static func header(
        _ version: Int = 2, process: Int = 865, name: String = "test", n: Int = 1, t: Int = 0
    ) -> String {
        let (t, wall) = (t + n * 1000, t + n * 1000 + 5)
        return #"{"recording":\#(version),"process":\#(process),"name":"\#(name)","n":\#(n),"t":\#(t),"wall":\#(wall)}"#
    }

    private static func post(_ number: Int, t: Int = 0) -> String {
        #"{"n":\#(number),"t":\#(t + number * 1000),"thread":1,"stage":"post"}"#
    }

    private static func end(_ number: Int) -> String {
        #"{"n":\#(number),"t":\#(number)000,"thread":1,"stage":"end","reason":"exit"}"#
    }

    /// The lines of a recording of posts, with a header and the identity of a thread.
    private static func lines(_ count: Int, version: Int = 2) -> [String] {
        [header(version), #"{"thread":1,"name":"main","kernelID":865}"#] + (1...count).map { post($0) }
    }

    private static func read(_ lines: [String]) throws -> Recording {
        try Recording(bytes: Array((lines.joined(separator: "\n") + "\n").utf8), name: "f")
    }

    func testEveryFieldIsReadAsItWasWrittenInPiecesOfAnySize() throws {
        let lines = [
            Self.header(3), #"{"thread":1,"name":"ж\n漢 \"main\"","kernelID":865}"#,
            #"{"thread":2,"kernelID":870,"pool":true}"#,
            #"{"n":1,"t":1000,"thread":2,"stage":"drop","name":"a \"name\"","post":1,"observer":2,"target":1,"#
                + #""message":"said \\ \u001b[0m","file":"M/f.swift","line":7,"count":3,"sender":"fffffffffffffffe","#
                + #""type":"A<B>","by":4,"overtakes":true,"style":"whenIdle","policy":"dropOldest","#
                + #""reason":"signal","signal":11}"#,
        ]
        for size in [1, 7, 4096, .max] {
            var rest = Array((lines.joined(separator: "\n") + "\n").utf8)[...]
            let source = LineSource(name: "f") { buffer in
                let part = rest.prefix(min(size, buffer.count))
                buffer.copyBytes(from: part)
                rest = rest.dropFirst(part.count)
                return part.count
            }
            let recording = try Recording(source)
            XCTAssertEqual(recording.problems, [])
            let worker = ThreadIdentity(number: 2, name: nil, kernelID: 870)
            XCTAssertEqual(recording.threads.map(\.isInPool), [false, true])
            XCTAssertEqual(
                recording.records,
                [
                    TestRecord(
                        sequence: 1, time: 1000, wallTime: 1005, process: ProcessIdentity(id: 865, name: "test"),
                        thread: worker, stage: .drop, name: "a \"name\"", post: 1, observer: 2,
                        target: ThreadIdentity(number: 1, name: "ж\n漢 \"main\"", kernelID: 865),
                        message: "said \\ \u{1B}[0m", location: SourceLocation("M/f.swift", 7), count: 3,
                        sender: Recording.Sender(identifier: .max - 1, type: "A<B>"), relatedPost: 4, overtakes: true,
                        style: .whenIdle, policy: .dropOldest, reason: .signal(11))
                ])
            XCTAssertEqual(
                recording.details(of: recording.entries[0]),
                "overtakes, whenIdle, dropOldest(3), signal 11, said \\ \u{1B}[0m")
        }
    }

    func testInterleavedRecordsOfSeveralProcessesAreReadWithTheirOwnProcess() throws {
        let other = Self.header(process: 900, name: "other")
        let recording = try Self.read([
            Self.header(), Self.post(1), other, Self.post(1), Self.header(n: 2), Self.post(2),
            Self.header(process: 900, name: "other", n: 2), Self.post(2),
        ])
        XCTAssertEqual(recording.problems, [])
        XCTAssertEqual(
            recording.entries.map { recording.processes[recording.process(of: $0)].id }, [865, 900, 865, 900])
        XCTAssertEqual(recording.entries.map(\.time), [1000, 1000, 2000, 2000])
        XCTAssertEqual(recording.threads.count, 2)
    }

    func testAFileTruncatedAtAnyByteIsReadUpToThereAndTheTruncatedLineIsReported() throws {
        let whole = Array((Self.lines(4).joined(separator: "\n") + "\n").utf8)
        let header = try XCTUnwrap(whole.firstIndex(of: 0x0A))
        for length in header..<whole.count {
            let recording = try Recording(bytes: Array(whole[..<length]))
            let ends = whole[..<length].indices.filter { whole[$0] == 0x0A }
            // A line that lacks only its newline is complete.
            let isWhole = whole[length - 1] == 0x0A || whole[length] == 0x0A
            let linesBeforeRecords = 2 - (whole[length] == 0x0A && ends.count >= 2 ? 1 : 0)
            XCTAssertEqual(recording.problemCount, isWhole ? 0 : 1, "\(length): \(recording.problems)")
            XCTAssertEqual(recording.entries.count, max(0, ends.count - linesBeforeRecords))
            if !isWhole {
                XCTAssertEqual(recording.completeness, [.truncated(.line)])
            }
        }
    }

    func testAnInvalidLineInTheMiddleIsReportedWithItsNumberAndTheRestIsKept() throws {
        for (foreign, reason) in [
            ("this is my file", "not a JSON object"),
            ("{\"n\":3,\"t\":3,\"thread\":1,\"stage\":\"post\"", "breaks off"),
            ("{\"n\":-1,\"t\":3,\"thread\":1,\"stage\":\"post\"}", "\"n\""),
            ("{\"n\":9,\"thread\":1,\"stage\":\"post\"}", "\"t\""),
            ("{\"n\":9,\"t\":3,\"stage\":\"post\"}", "\"thread\""),
            ("{\"n\":9,\"t\":3,\"thread\":1,\"stage\":\"jump\"}", "jump"),
            ("{\"t\":99999999999999999999,\"thread\":1,\"stage\":\"post\"}", "\"t\""), ("{}", "not a header"),
            ("{\"n\":9,\"t\":3,\"thread\":1,\"stage\":\"post\",\"foundation\":\"yes\"}", "\"foundation\""),
            ("{\"n\":9,\"t\":3,\"thread\":0,\"stage\":\"post\"}", "\"thread\""),
            ("{\"n\":9,\"t\":3,\"thread\":1,\"stage\":4}", "\"stage\""), ("[1]", "not a JSON object"),
        ] {
            var lines = Self.lines(4)
            lines.insert(foreign, at: 4)
            let recording = try Self.read(lines)
            XCTAssertEqual(recording.problems.count, 1, "\(foreign)")
            XCTAssertEqual(recording.problems.first?.line, 5)
            XCTAssertEqual(recording.problems.first?.problem.contains(reason), true, "\(recording.problems)")
            XCTAssertEqual(recording.entries.map(\.time), [1000, 2000, 3000, 4000])
        }
    }

    func testRepeatedRecordsAreOmittedLateOnesArePutInOrderAndMissingOnesAreReported() throws {
        let lines = Self.lines(6)
        let repeated = try Self.read(lines[..<5] + [lines[3]] + lines[5...])
        XCTAssertEqual(repeated.entries.map(\.time), (1...6).map { $0 * 1000 })
        XCTAssertEqual(repeated.problems.map(\.line), [6])
        XCTAssertTrue(repeated.problems[0].problem.contains("was there before"))
        let swapped = try Self.read(Array(lines[..<3]) + [lines[4], lines[3]] + lines[5...])
        XCTAssertEqual(swapped.entries.map(\.time), (1...6).map { $0 * 1000 })
        XCTAssertEqual(swapped.problems.map(\.line), [4, 5])
        XCTAssertTrue(swapped.problems[1].problem.contains("out of order"))
        let missing = try Self.read(Array(lines[..<3]) + lines[5...])
        XCTAssertEqual(missing.entries.count, 4)
        XCTAssertEqual(missing.problems.map(\.description), ["f:4: 2 records are missing before this line, number 4"])
        let doubled = try Self.read(lines + lines)
        XCTAssertEqual(doubled.entries.count, 6)
        XCTAssertEqual(doubled.problemCount, 7)
    }

    func testAnotherVersionOfTheSchemaIsAnErrorThatSaysSo() throws {
        let lines = Self.lines(2)
        let (newer, older) = (Self.lines(2, version: 4), Self.lines(2, version: 1))
        let mixed = try Self.read(lines + newer)
        XCTAssertEqual(mixed.entries.count, 2)
        XCTAssertEqual(mixed.problems.map(\.line), [5])
        XCTAssertTrue(mixed.problems[0].problem.contains("version 4"))
        XCTAssertEqual(mixed.completeness, [.truncated(.damaged)])
        for (lines, words) in [(newer, "newer version"), (older, "older version of the library (schema 1)")] {
            XCTAssertThrowsError(try Self.read(lines)) {
                XCTAssertEqual(($0 as? LogError)?.problem.contains(words), true)
            }
        }
    }

    func testUnknownKeysAndBlanksAreIgnored() throws {
        var lines = Self.lines(1)
        lines[2] =
            " { \"x\" : -1.5e3, \"y\": \"}\", \"z\":null, \"stage\":\"post\",\t\"thread\":1,\"n\":1, \"t\":7} \r"
        let recording = try Self.read(lines)
        XCTAssertTrue(recording.problems.isEmpty)
        XCTAssertEqual(recording.entries.map(\.time), [7])
    }

    func testRecordsWithoutAHeaderAreReadAndReportedAsRecordsOfAnUnknownProcess() throws {
        let recording = try Self.read(Array(Self.lines(3).dropFirst()))
        XCTAssertEqual(recording.entries.count, 3)
        XCTAssertEqual(recording.problems.map(\.line), [1])
        let tail = try Self.read(Array(Self.lines(5).dropFirst(4)))
        XCTAssertEqual(tail.entries.map(\.time), [3000, 4000, 5000])
    }

    func testAFileThatIsNotARecordingIsAnErrorThatShowsTheReasonAndTheExpectedFormat() {
        for (bytes, words) in [
            ([], "contains no records"), (Array("\n \n".utf8), "contains no records"),
            (Array("hello\n".utf8), "f:1: this is not a recording"),
            ([0x7F, 0x45, 0x4C, 0x46, 0, 0, 0xFF], "not a recording"),
            (Array("2016-02-13 22:05:12.856 test[865:45102] hello\n".utf8), "not a recording"),
        ] as [([UInt8], String)] {
            do throws(LogError) {
                _ = try Recording(bytes: bytes, name: "f")
                XCTFail("was read")
            } catch {
                XCTAssertTrue("\(error)".contains(words), "\(error)")
            }
        }
        // A document that contains a record.
        let document = Array("# Title\n\nwords\nwords\n{\"n\":1,\"t\":1,\"thread\":1,\"stage\":\"log\"}\nwords\n".utf8)
        assertThrows(LogError.self) { try Recording(bytes: document) }
        assertThrows(LogError.self) { try Recording(path: "/nonexistent") }
        assertThrows(LogError.self) { try Recording(path: "/tmp") }
    }

    func testAnEndlessLineIsSkippedInBoundedMemory() throws {
        let lines = Self.lines(2)
        let long = String(repeating: "x", count: 3 << 20)
        let recording = try Self.read([lines[0], lines[1], lines[2], long, lines[3]])
        XCTAssertEqual(recording.entries.count, 2)
        XCTAssertEqual(recording.problems.map(\.line), [4])
        XCTAssertTrue(recording.problems[0].problem.contains("longer"))
        let cut = try Recording(bytes: Array((lines[0] + "\n" + long).utf8))
        XCTAssertEqual(cut.problemCount, 1)
    }

    // MARK: Version 3: a record is in the file as soon as it is made, so a missing end is no gap

    func testAMissingEndIsTruncationInVersion2AndNoGapInVersion3() throws {
        for (version, ending) in [(2, .truncated(.noEnd)), (3, .endedWithoutNotice)] as [(Int, Recording.Completeness)]
        {
            for (lines, completeness) in [
                ([1, 2].map { Self.post($0) }, ending), ([Self.post(1), Self.end(2)], .complete),
                ([1, 3].map { Self.post($0) }, .truncated(.missing(1))),
            ] { XCTAssertEqual(try Self.read([Self.header(version)] + lines).completeness, [completeness]) }
        }
    }

    /// Room for records, with or without the line that a process was writing when it died.
    func testRoomThatWasNotUsedAndALineThatWasNotFinishedAreNothing() throws {
        let lines = [Self.header(3), Self.post(1), Self.post(2)]
        let other = [Self.header(3, process: 8), Self.post(1), Self.end(2)]
        for room in ["\0", String(repeating: "\0", count: 1 << 18)] {
            for (part, next) in [("", ""), ("\0\(Self.post(3).dropFirst().prefix(9))", "\n"), ("\0\"n\":3}\n", "")] {
                XCTAssertEqual(try Self.read(lines + [part + room]).completeness, [.endedWithoutNotice])
                let recording = try Self.read(lines + [part + room + next + other[0]] + other[1...])
                XCTAssertEqual(recording.problems, [], part)
                XCTAssertEqual(recording.completeness, [.endedWithoutNotice, .complete])
                XCTAssertEqual(recording.entries.count, 4)
            }
        }
    }

    func testAnotherProgramInTheSameProcessEndsTheFirst() throws {
        // In version 2, the last records of the first program were lost.
        for (name, version, first) in [
            ("other", 3, .complete), ("test", 3, .complete), ("test", 2, .truncated(.noEnd)),
        ] as [(String, Int, Recording.Completeness)] {
            let program = [Self.header(3, name: name, t: 5000), Self.post(1, t: 6000)]
            let executed = try Self.read([Self.header(version), Self.post(1)] + program)
            XCTAssertEqual(executed.completeness, [first, .endedWithoutNotice])
            XCTAssertEqual(executed.processes.map(\.id), [865, 865])
            XCTAssertEqual(executed.problems, [])
        }
    }

    func testALossAndAnEndNeedNoThread() throws {
        let recording = try Self.read([
            Self.header(3), #"{"t":2000,"stage":"lost","count":70}   "#, Self.post(1),
            #"{"n":2,"t":9000,"stage":"end","reason":"signal","signal":9}"#,
        ])
        XCTAssertEqual(recording.completeness, [.truncated(.lost(70))])
        XCTAssertEqual(recording.problems, [])
        XCTAssertEqual(recording.entries.map(\.isThreadKnown), [true, false, false])
        XCTAssertEqual(recording.entries[2].reason, .signal(9))
        XCTAssertEqual(recording.describeThread(recording.entries[2].thread), "main")
    }
}
