import XCTest

@testable import DeliveryDiagnostics

final class LogFormTests: XCTestCase {
    private func log(_ text: String, _ change: (inout TextLog.Options) throws -> Void = { _ in }) throws -> TextLog {
        var options = TextLog.Options()
        try change(&options)
        return try TextLog(name: "a.log", text: text + "\n", options: options)
    }

    /// Lines, and what is expected of each: form, process, thread's id and name, and text.
    private static let cases = #"""
        2016-02-13 22:05:12.857 test[865:45174] test notification¦nslog¦865¦45174¦-¦test notification
        2016-02-13 22:05:12+0100 test[865:45174] m¦nslog¦865¦45174¦-¦m
        2026-11-20 22:05:12.856 test[865:7F3c2b1a]¦nslog¦865¦7f3c2b1a¦-¦
        2026-11-20 22:05:12.856 my app [x] (2)[865:1] [1:2] m¦nslog¦865¦1¦-¦[1:2] m
        2026-11-20 22:05:12.856 прог[865:1]  two ж¦nslog¦865¦1¦-¦ two ж
        2021-04-06 13:32:13.839 Df kernel[0:12e] (Sandbox) m¦oslog¦0¦12e¦-¦Df (Sandbox) m
        2021-04-06 13:32:13.839+0200 E  kernel[7:12e] m¦oslog¦7¦12e¦-¦E m
        2022-08-25 15:22:01.008417+0100 0x1590e  Default 0x0  1766   0 blued: m¦oslog¦1766¦1590e¦-¦Default blued: m
        01-15 10:11:12.345  1234  5678 D Tag     : m¦logcat¦1234¦5678¦-¦D Tag     : m
        2026-01-15 10:11:12.345 +0100 u0_a12  1234  5678 E Tag: m¦logcat¦1234¦5678¦-¦E Tag: m
        2024-01-15 10:11:12,345 [main] INFO  com.example.App - m¦log4j¦-¦-¦main¦INFO com.example.App - m
        10:11:12.345 [ pool-1-thread-2] ERROR c.e.A - [x] m¦log4j¦-¦-¦pool-1-thread-2¦ERROR c.e.A - [x] m
        10:11:12.345 [12] INFO  a.B - m¦log4j¦-¦12¦-¦INFO a.B - m
        2024-01-15 10:11:12,345 - app - INFO - (MainThread) - m¦python¦-¦-¦MainThread¦ - app - INFO -   - m
        2024-01-15 10:11:12,345 (Thread-1 (work)) m (x)¦python¦-¦-¦Thread-1 (work)¦   m (x)
        0:00:00.123456789 12345 0x55d0c8a0 DEBUG   GST_PADS a.c:1:f:<src> m¦gst¦12345¦55d0c8a0¦-¦DEBUG GST_PADS a.c:1:f:<src> m
        2024-01-15T10:11:12Z info a: a=1 thread={number = 2, name = worker} [A] m¦swift-log¦-¦2¦worker¦info a: a=1   [A] m
        2024-01-15T10:11:12Z info app : thread={number = 3, name = (null)} m¦swift-log¦-¦3¦-¦info app :   m
        """#.split(separator: "\n").map { $0.components(separatedBy: "¦") }

    func testEachFormIsRecognisedAndItsLinesAreSplit() throws {
        for row in Self.cases {
            let line = row[0]
            let (log, text) = (try log(line), row[5])
            let writer = try XCTUnwrap(log.writers.first)
            XCTAssertEqual(
                [log.form.name, writer.process ?? "-", writer.id ?? "-", writer.name ?? "-"],
                Array(row[1..<5]), line)
            XCTAssertEqual(log.messages.map(\.text), [text], line)
            // Colours of a terminal are no part of a line.
            XCTAssertEqual(try self.log("\(line)\n more\n\(line)").messages.map(\.text), ["\(text)\n more", text])
            XCTAssertEqual(try self.log("\u{1B}[32m\(line)\u{1B}[0m").messages.map(\.text), [text])
        }
        XCTAssertEqual(Set(Self.cases.map { $0[1] }), Set(LogForm.names))
    }

    func testALineOfAnotherFormIsNone() {
        let lines =
            ["hello", "2016-02-13", "2016-02-13 22:05:12", "2016-02-13 22:05:12,856 test[1:2] m"]
            + ["test", "test[865]", "test[865:] m", "test[:1] m", "[865:1] m", "test[865:1]m", "test[865:1"].map {
                "2016-02-13 22:05:12.856 " + $0
            }
        for line in lines { XCTAssertThrowsError(try log(line), line) }
    }

    func testALogWithoutThreadsIsRefusedAndTheErrorSaysHowToPrintThem() throws {
        for line in ["hello \u{7}", "D/Tag( 1234): m", "2024-01-15 10:11:12,345 INFO  c.e.A - m", "WARNING:root:m"] {
            XCTAssertThrowsError(try log(line)) { error in
                let text = "\(error)"
                XCTAssertTrue(text.hasPrefix("a.log: no line names a thread in a form that was tried."), text)
                XCTAssertTrue(text.contains("The first line is \"\(line.replacing("\u{7}", with: "\\u{07}"))\""), text)
                XCTAssertTrue(text.contains("\n  logcat: adb logcat -v threadtime\n"), text)
                for name in LogForm.names { XCTAssertTrue(text.contains("\n  \(name): "), text) }
            }
        }
    }

    func testAFormOfTheUserIsARegularExpressionForAWholeLine() throws {
        func read(_ form: String, _ text: String) throws -> TextLog {
            try log(text) { $0.forms = try LogForm.named(form) }
        }
        let ids = try read(#"(?<time>\S+) <(?<thread>\w+)> (?<text>.*)"#, "1 <0x7F> one\n2 <8> two\nmore")
        XCTAssertEqual(ids.messages.map(\.text), ["one", "two\nmore"])
        XCTAssertEqual(ids.writers.map(\.id), ["7f", "8"])
        // Threads that do not all look like ids are names.
        let names = try read(#"<(?<thread>\w+)> (?<text>.*)"#, "<8> one\n<main> two")
        XCTAssertEqual(names.writers.map(\.name), ["8", "main"])
        let chains = try read(#"(?<chain>\S+) (?<text>.*)"#, "a one")
        XCTAssertEqual(chains.writers.map(\.chain), ["a"])
        XCTAssertEqual(try read("nslog", "2016-02-13 22:05:12 test[865:1] m").messages.map(\.text), ["m"])
        for form in ["(", "(?<text>.*)", "(?<thread>.*)", "syslog"] {
            XCTAssertThrowsError(try LogForm.named(form)) { XCTAssertTrue($0 is LogPattern.Refusal) }
        }
    }

    func testWhatExceeds4KiBOfALineIsNotMatchedButCompared() throws {
        let long = String(repeating: "ж", count: 5000)
        let line = "2016-02-13 22:05:12 test[865:1] \(long) end"
        XCTAssertEqual(try log(line).messages.map(\.text), ["\(long) end"])
        XCTAssertEqual(try log(line) { $0.masks = ["ж+", "end"] }.messages[0].text.hasSuffix("ж end"), true)
    }

    func testAnExpressionThatTakesTooLongIsRefusedWithItsNameAndTheLine() throws {
        let line = "<1> " + String(repeating: "a", count: 18) + "!"
        XCTAssertThrowsError(try log(line) { $0.forms = try LogForm.named("<(?<thread>1)> (?<text>(a|a)+)$") }) {
            error in
            let text = "\(error)"
            XCTAssertTrue(text.hasPrefix("--form: \"<(?<thread>1)>"), text)
            XCTAssertTrue(text.contains("takes longer than 100 ms to match \"\(line)\""), text)
        }
    }
}
