import ThreadedNotifications
import XCTest

@testable import DeliveryRecording

/// Version 3 of the schema: every record is in the file as soon as it is made, so that a missing end is no gap.
final class VersionThreeTests: XCTestCase {
    private static func header(_ version: Int = 3, process: Int = 7, name: String = "p", t: Int = 0) -> String {
        "{\"recording\":\(version),\"process\":\(process),\"name\":\"\(name)\",\"n\":1,\"t\":\(t),\"wall\":\(t)}\n"
    }

    private static func post(_ number: Int, t: Int? = nil) -> String {
        let t = t ?? number * 1000
        return "{\"n\":\(number),\"t\":\(t),\"thread\":1,\"stage\":\"post\",\"name\":\"A\",\"post\":\(number)}\n"
    }

    private static func end(_ number: Int) -> String {
        "{\"n\":\(number),\"t\":\(number * 1000),\"thread\":1,\"stage\":\"end\",\"reason\":\"exit\"}\n"
    }

    private func read(_ text: String) throws -> Recording { try Recording(bytes: Array(text.utf8), name: "f") }

    func testAMissingEndIsTruncationInVersion2AndNoGapInVersion3() throws {
        let records = Self.post(1) + Self.post(2)
        XCTAssertEqual(try read(Self.header(2) + records).completeness, [.truncated(.noEnd)])
        XCTAssertEqual(try read(Self.header(3) + records).completeness, [.endedWithoutNotice])
        for version in [2, 3] {
            XCTAssertEqual(try read(Self.header(version) + records + Self.end(3)).completeness, [.complete])
            XCTAssertEqual(
                try read(Self.header(version) + Self.post(1) + Self.post(3)).completeness, [.truncated(.missing(1))])
        }
        XCTAssertTrue(Recording.Completeness.endedWithoutNotice.isComplete)
    }

    /// Room for records, with or without the line that a process was writing when it died.
    func testRoomThatWasNotUsedAndALineThatWasNotFinishedAreNothing() throws {
        let other = Self.header(process: 8) + Self.post(1) + Self.end(2)
        for part in ["", "\(Self.post(3).dropFirst().prefix(9))", "\(Self.post(3).dropFirst())"] {
            for room in ["\0", String(repeating: "\0", count: 1 << 18)] {
                for rest in ["", other, "\n" + other] where part.isEmpty || part.hasSuffix("\n") || !rest.hasPrefix("{")
                {
                    let recording = try read(Self.header() + Self.post(1) + Self.post(2) + "\0" + part + room + rest)
                    XCTAssertEqual(recording.problems, [], part)
                    XCTAssertEqual(recording.completeness, [.endedWithoutNotice] + (rest.isEmpty ? [] : [.complete]))
                    XCTAssertEqual(recording.entries.count, rest.isEmpty ? 2 : 4)
                }
            }
        }
    }

    func testAnotherProgramInTheSameProcessEndsTheFirst() throws {
        for name in ["q", "p"] {
            let program = Self.header(name: name, t: 5000) + Self.post(1, t: 6000)
            let executed = try read(Self.header() + Self.post(1) + program)
            XCTAssertEqual(executed.completeness, [.complete, .endedWithoutNotice])
            XCTAssertEqual(executed.processes.map(\.id), [7, 7])
            XCTAssertEqual(executed.problems, [])
            // In version 2, the last records of the first program were lost.
            XCTAssertEqual(
                try read(Self.header(2) + Self.post(1) + program).completeness,
                [.truncated(.noEnd), .endedWithoutNotice])
        }
    }

    func testALossAndAnEndNeedNoThread() throws {
        let recording = try read(
            Self.header() + "{\"t\":2000,\"stage\":\"lost\",\"count\":70}   \n" + Self.post(1)
                + "{\"n\":2,\"t\":9000,\"stage\":\"end\",\"reason\":\"signal\",\"signal\":9}\n")
        XCTAssertEqual(recording.completeness, [.truncated(.lost(70))])
        XCTAssertEqual(recording.problems, [])
        XCTAssertEqual(recording.entries.map(\.isThreadKnown), [true, false, false])
        XCTAssertEqual(recording.entries[2].reason, .signal(9))
        XCTAssertEqual(recording.describeThread(recording.entries[2].thread), "main")
    }
}
