import DeliveryRecording
import XCTest

@testable import DeliveryDiagnostics

final class TextLogTests: XCTestCase {
    private static let time = "2016-02-13 22:05:12.856 test[865:45102] "

    private func read(_ lines: String..., change: (inout TextLog.Options) -> Void = { _ in }) throws -> TextLog {
        var options = TextLog.Options()
        change(&options)
        return try TextLog(name: "log", text: lines.map { $0 + "\n" }.joined(), options: options)
    }

    func testBlankLinesCommentsAByteOrderMarkAndCarriageReturnsAreIgnored() throws {
        let log = try read("\u{FEFF}# a comment", Self.time + "one\r", "", "  \t", "# another", Self.time + "two")
        XCTAssertEqual(log.messages.map(\.text), ["one", "two"])
        XCTAssertEqual(log.skipped, 0)
    }

    func testALineInNoFormContinuesTheMessageBeforeAndIsSkippedOnRequestOrAtTheBeginning() throws {
        for line in ["Reason: disk full", "Fatal error: no", "/usr/bin/program:12: no"] {
            let (one, two) = (Self.time + "{", Self.time + "two")
            let log = try read("starting", one, "  a = 1;", "}", line, two, "ready")
            XCTAssertEqual(log.messages.map(\.text), ["{\n  a = 1;\n}\n\(line)", "two\nready"])
            XCTAssertEqual(log.skipped, 1)
            let skipping = try read("starting", one, "  a = 1;", "}", line, two, "ready") { $0.skipsOtherLines = true }
            XCTAssertEqual(skipping.messages.map(\.text), ["{\n  a = 1;\n}", "two"])
            XCTAssertEqual(skipping.skipped, 3)
        }
    }

    func testALogBeginsAtTheFirstLineThatMatches() throws {
        let log = try read(Self.time + "one", "more", Self.time + "two", Self.time + "one") { $0.fromLine = "tw" }
        XCTAssertEqual(log.messages.map(\.text), ["two", "one"])
        XCTAssertThrowsError(try read(Self.time + "one") { $0.fromLine = "x" }) {
            XCTAssertEqual("\($0)", "log: no line matches --from-line x.")
        }
    }

    func testAFileThatCannotBeReadIsAnErrorThatNamesIt() {
        for (path, problem) in [
            ("/nonexistent/run.log", "cannot be opened: No such file or directory."),
            ("/", "cannot be read: Is a directory."),
        ] {
            XCTAssertThrowsError(try ComparisonInput(path: path)) { XCTAssertEqual("\($0)", "\(path): \(problem)") }
        }
        XCTAssertThrowsError(try read("")) { XCTAssertEqual("\($0)", "log: contains no log lines.") }
    }

    func testALineOfAGigabyteIsRejectedAfterItsFirstMegabytes() {
        var given = 0
        let source = LineSource(name: "long.log") { buffer in
            guard given < 1 << 30 else { return 0 }
            buffer.initializeMemory(as: UInt8.self, repeating: UInt8(ascii: "a"))
            given += buffer.count
            return buffer.count
        }
        XCTAssertThrowsError(try TextLog(source)) { error in
            XCTAssertTrue("\(error)".hasPrefix("long.log:1: this line is longer than 1048576 bytes"), "\(error)")
        }
        XCTAssertLessThan(given, 8 << 20)
    }
}
