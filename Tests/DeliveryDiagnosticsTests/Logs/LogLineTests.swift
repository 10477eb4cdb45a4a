import DeliveryRecording
import Testing

@testable import DeliveryDiagnostics

@Suite("Log lines")
struct LogLineTests {
    @Test("a line in the documents' format is split into its parts")
    func documentForm() throws {
        let line = try LogLine(Array("2016-02-13 22:05:12.857 test[865:45174] test notification".utf8))
        #expect(line.process == "test")
        #expect(line.processID == "865")
        #expect(line.threadID == "45174")
        #expect(line.message == "test notification")
    }

    @Test(
        "NSLog's other formats are parsed",
        arguments: [
            ("2026-11-20 22:05:12.856123+0100 test[865:45174] m", "test", "45174", "m"),
            ("2026-11-20 22:05:12.856 test[865:7f3c2b1a] m", "test", "7f3c2b1a", "m"),
            ("2026-11-20 22:05:12.856 my app [x] (2)[865:1] [1:2] m", "my app [x] (2)", "1", "[1:2] m"),
            ("2026-11-20 22:05:12.856 test[865:1]", "test", "1", ""),
            ("2026-11-20 22:05:12.856 test[865:1] ", "test", "1", ""),
            ("2026-11-20 22:05:12.856 test[865:1]  two spaces", "test", "1", " two spaces"),
            ("2026-11-20 22:05:12.856 прог[865:1] ж", "прог", "1", "ж"),
        ])
    func forms(text: String, process: String, thread: String, message: String) throws {
        let line = try LogLine(Array(text.utf8))
        #expect(line.process == process)
        #expect(line.threadID == thread)
        #expect(line.message == message)
    }

    @Test(
        "the error names the missing part",
        arguments: [
            ("", LogLine.Problem.noTime),
            ("hello", .noTime),
            ("2016-02-13", .noTime),
            ("2016-02-13 22:05:12 test[1:2] m", .noTime),
            ("2016-02-13 22:05:12.856", .noTime),
            ("2016-02-13 22:05:12.1234567890 test[1:2] m", .noTime),
            ("2016-02-13 22:05:12.856+01 test[1:2] m", .noTime),
            ("2016-02-13 22:05:12.856 ", .noProcess),
            ("2016-02-13 22:05:12.856 test", .noProcess),
            ("2016-02-13 22:05:12.856 test[865]", .noProcess),
            ("2016-02-13 22:05:12.856 test[865:] m", .noProcess),
            ("2016-02-13 22:05:12.856 test[:1] m", .noProcess),
            ("2016-02-13 22:05:12.856 [865:1] m", .noProcess),
            ("2016-02-13 22:05:12.856 test[865:1]m", .noProcess),
            ("2016-02-13 22:05:12.856 test[865:1", .noProcess),
        ])
    func problems(text: String, problem: LogLine.Problem) {
        #expect(throws: problem) { try LogLine(Array(text.utf8)) }
    }

    @Test("bytes that are not UTF-8 are an error")
    func notText() {
        #expect(throws: LogLine.Problem.notText) { try LogLine([0x32, 0xFF, 0xFE]) }
    }
}
