import DeliveryRecording
import SharedTesting
import XCTest

@testable import DeliveryDiagnostics

final class TextLogTests: XCTestCase {
    private static let time = "2016-02-13 22:05:12.856 test[865:45102] "

    private func logError(_ body: () throws -> some Any) -> LogError? {
        do {
            _ = try body()
            return nil
        } catch {
            return error as? LogError
        }
    }

    private func messages(_ lines: String..., skipsOtherLines: Bool = false) throws -> ([String], skipped: Int) {
        let log = try TextLog(name: "log", text: lines.map { $0 + "\n" }.joined())
        let (recording, skipped) = log.recording(skipsOtherLines: skipsOtherLines)
        return (recording.entries.compactMap { recording.message(of: $0) }, skipped)
    }

    func testBlankLinesCommentsAByteOrderMarkAndCarriageReturnsAreIgnored() throws {
        let (read, skipped) = try messages(
            "\u{FEFF}# a comment", Self.time + "one\r", "", "  \t", "# another", Self.time + "two")
        XCTAssertEqual(read, ["one", "two"])
        XCTAssertEqual(skipped, 0)
    }

    func testLinesInAnotherFormatContinueTheMessageBefore() throws {
        let lines = (Self.time + "{", "    a = 1;", "}", "end", Self.time + "two", "more")
        let (read, skipped) = try messages(lines.0, lines.1, lines.2, lines.3, lines.4, lines.5)
        XCTAssertEqual(read, ["{\n    a = 1;\n}\nend", "two\nmore"])
        XCTAssertEqual(skipped, 0)
        let request = try messages(lines.0, lines.1, lines.2, lines.3, lines.4, lines.5, skipsOtherLines: true)
        XCTAssertEqual(request.0, ["{\n    a = 1;\n}", "two"])
        XCTAssertEqual(request.skipped, 2)
    }

    func testAnyLineAfterAMessageContinuesItAndLinesBeforeTheFirstAreSkipped() throws {
        for line in ["Reason: disk full", "Fatal error: no", "/usr/bin/program:12: no"] {
            let (read, skipped) = try messages("starting", Self.time + "one", line, Self.time + "two", "ready")
            XCTAssertEqual(read, ["one\n\(line)", "two\nready"])
            XCTAssertEqual(skipped, 1)
        }
    }

    func testALogThatEndsWithinALineKeepsTheLineAndIsKnownAsTruncated() throws {
        let text = ReferenceLog.listing4.text
        let firstLine = text.prefix { $0 != "\n" }.count
        for length in 60..<text.count {
            let log = try TextLog(name: "cut.log", text: String(text.prefix(length)))
            let (recording, _) = log.recording(skipsOtherLines: false)
            XCTAssertEqual(log.isComplete, (text.prefix(length).last == "\n"))
            XCTAssertEqual(log.isTruncated(recording.entries.count - 1), !log.isComplete)
            XCTAssertTrue(length > firstLine || recording.entries.count == 1)
        }
    }

    func testAnErrorNamesTheLogTheLineTheExpectedFormatAndTheText() throws {
        for (text, expected) in [
            (
                "hello \u{1B}[31mred\n",
                "run.log:1: this is not a log line. Expected a line such as "
                    + "\"2016-02-13 22:05:12.856 test[865:45102] a message\", found \"hello \\u{1B}[31mred\"."
            ),
            (
                "\n2016-02-13 22:05:12 ab",
                "run.log:2: this is not a log line. The log ends "
                    + "within this line, so it may be truncated. Expected a line such as "
                    + "\"2016-02-13 22:05:12.856 test[865:45102] a message\", found \"2016-02-13 22:05:12 ab\"."
            ),
            (
                "# only this\n",
                "run.log: contains no log lines. Expected a line such as "
                    + "\"2016-02-13 22:05:12.856 test[865:45102] a message\"."
            ),
        ] {
            let error = logError { try TextLog(name: "run.log", text: text) }
            XCTAssertEqual(error?.description, expected)
        }
        let missing = logError { try ComparisonInput(path: "/nonexistent/run.log") }
        XCTAssertEqual(missing?.description, "/nonexistent/run.log: cannot be opened: No such file or directory.")
        let folder = logError { try ComparisonInput(path: "/") }
        XCTAssertEqual(folder?.description, "/: cannot be read: Is a directory.")
    }

    func testALineOfAGigabyteIsRejectedAfterItsFirstMegabytes() {
        var given = 0
        let error = logError {
            try TextLog(
                LineSource(name: "long.log") { buffer in
                    guard given < 1 << 30 else { return 0 }
                    buffer.initializeMemory(as: UInt8.self, repeating: UInt8(ascii: "a"))
                    given += buffer.count
                    return buffer.count
                })
        }
        XCTAssertEqual(error?.line, 1)
        XCTAssertEqual(error?.problem.hasPrefix("this line is longer than 1048576 bytes"), true)
        XCTAssertLessThan(given, 8 << 20)
    }
}
