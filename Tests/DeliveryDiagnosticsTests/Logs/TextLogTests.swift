import DeliveryRecording
import Testing

@testable import DeliveryDiagnostics

@Suite("Reading text logs")
struct TextLogTests {
    private static let time = "2016-02-13 22:05:12.856 test[865:45102] "

    private func messages(_ lines: String..., skipsOtherLines: Bool? = nil) throws -> ([String], skipped: Int) {
        let log = try TextLog(name: "log", text: lines.map { $0 + "\n" }.joined())
        let (recording, skipped) = log.recording(skipsOtherLines: skipsOtherLines ?? log.isCombinedOutput)
        return (recording.entries.compactMap { recording.message(of: $0) }, skipped)
    }

    @Test("blank lines, comments, a byte order mark and carriage returns are ignored")
    func layout() throws {
        let (read, skipped) = try messages(
            "\u{FEFF}# a comment", Self.time + "one\r", "", "  \t", "# another", Self.time + "two")
        #expect(read == ["one", "two"])
        #expect(skipped == 0)
    }

    @Test("lines in another format continue the message before")
    func continuation() throws {
        let lines = (Self.time + "{", "    a = 1;", "}", "end", Self.time + "two", "more")
        let (read, skipped) = try messages(lines.0, lines.1, lines.2, lines.3, lines.4, lines.5)
        #expect(read == ["{\n    a = 1;\n}\nend", "two\nmore"])
        #expect(skipped == 0)
        let request = try messages(lines.0, lines.1, lines.2, lines.3, lines.4, lines.5, skipsOtherLines: true)
        #expect(request.0 == ["{\n    a = 1;\n}", "two"])
        #expect(request.skipped == 2)
    }

    @Test("other lines of the combined output of a program are skipped and counted")
    func combinedOutput() throws {
        for line in ["warning: the disk is full", "Fatal error: no", "/usr/bin/program:12: no"] {
            let (read, skipped) = try messages(Self.time + "{", "}", line, Self.time + "two", "ready")
            #expect(read == ["{\n}", "two"])
            #expect(skipped == 2)
        }
        let (read, skipped) = try messages("starting", "  slowly", Self.time + "one", "ready")
        #expect(read == ["one"])
        #expect(skipped == 3)
        let request = try messages(Self.time + "one", "warning: no", skipsOtherLines: false)
        #expect(request.0 == ["one\nwarning: no"])
    }

    @Test("a log that ends within a line keeps the line and is known as truncated")
    func truncated() throws {
        let text = ReferenceLog.listing4.text
        let firstLine = text.prefix { $0 != "\n" }.count
        for length in 60..<text.count {
            let log = try TextLog(name: "cut.log", text: String(text.prefix(length)))
            let (recording, _) = log.recording(skipsOtherLines: false)
            #expect(log.isComplete == (text.prefix(length).last == "\n"))
            #expect(log.isTruncated(recording.entries.count - 1) == !log.isComplete)
            #expect(length > firstLine || recording.entries.count == 1)
        }
    }

    @Test("an error names the log, the line, the expected format and the text")
    func errors() throws {
        for (text, expected) in [
            (
                "hello \u{1B}[31mred\n",
                "run.log:1: this is not a log line: it does not begin with a date and a time. Expected a line such as "
                    + "\"2016-02-13 22:05:12.856 test[865:45102] a message\", found \"hello \\u{1B}[31mred\"."
            ),
            (
                "\n2016-02-13 22:05:12 ab",
                "run.log:2: this is not a log line: no process[process id:thread id] follows the time. The log ends "
                    + "within this line, so it may be truncated. Expected a line such as "
                    + "\"2016-02-13 22:05:12.856 test[865:45102] a message\", found \"2016-02-13 22:05:12 ab\"."
            ),
            (
                "# only this\n",
                "run.log: contains no log lines. Expected lines such as "
                    + "\"2016-02-13 22:05:12.856 test[865:45102] a message\"."
            ),
        ] {
            let error = #expect(throws: LogError.self) { try TextLog(name: "run.log", text: text) }
            #expect(error?.description == expected)
        }
        let missing = #expect(throws: LogError.self) { try ComparisonInput(path: "/nonexistent/run.log") }
        #expect(missing?.description == "/nonexistent/run.log: cannot be opened: No such file or directory.")
        let folder = #expect(throws: LogError.self) { try ComparisonInput(path: "/") }
        #expect(folder?.description == "/: cannot be read: Is a directory.")
    }

    @Test("a line of a gigabyte is rejected after its first megabytes")
    func longLine() {
        var given = 0
        let error = #expect(throws: LogError.self) {
            try TextLog(name: "long.log") { buffer in
                guard given < 1 << 30 else { return 0 }
                buffer.initializeMemory(as: UInt8.self, repeating: UInt8(ascii: "a"))
                given += buffer.count
                return buffer.count
            }
        }
        #expect(error?.line == 1)
        #expect(error?.problem.hasPrefix("this line is longer than 1048576 bytes") == true)
        #expect(given < 8 << 20)
    }
}
