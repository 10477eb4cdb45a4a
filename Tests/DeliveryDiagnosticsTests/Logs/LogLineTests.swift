import XCTest

@testable import DeliveryDiagnostics

final class LogLineTests: XCTestCase {
    private func line(_ text: String) -> LogLine? {
        Array(text.utf8).withUnsafeBufferPointer { LogLine($0) }
    }

    func testALineInNSLogsFormatIsSplitIntoProcessThreadAndMessage() throws {
        for (text, process, thread, message) in [
            ("2016-02-13 22:05:12.857 test[865:45174] test notification", "test", "45174", "test notification"),
            ("2016-02-13 22:05:12 test[865:45174] no fraction", "test", "45174", "no fraction"),
            ("2016-02-13 22:05:12+0100 test[865:45174] m", "test", "45174", "m"),
            ("2026-11-20 22:05:12.856123+0100 test[865:45174] m", "test", "45174", "m"),
            ("2026-11-20 22:05:12.856 test[865:7f3c2b1a] m", "test", "7f3c2b1a", "m"),
            ("2026-11-20 22:05:12.856 my app [x] (2)[865:1] [1:2] m", "my app [x] (2)", "1", "[1:2] m"),
            ("2026-11-20 22:05:12.856 test[865:1]", "test", "1", ""),
            ("2026-11-20 22:05:12.856 test[865:1] ", "test", "1", ""),
            ("2026-11-20 22:05:12.856 test[865:1]  two spaces", "test", "1", " two spaces"),
            ("2026-11-20 22:05:12.856 прог[865:1] ж", "прог", "1", "ж"),
        ] {
            let line = try XCTUnwrap(line(text))
            XCTAssertEqual(
                [line.process, line.processID, line.threadID, line.message], [process, "865", thread, message])
        }
    }

    func testAnyOtherLineIsNone() {
        let texts =
            ["", "hello", "2016-02-13", "2016-02-13 22:05:12", "2016-02-13 22:05:12,856 test[1:2] m"]
            + ["", "test", "test[865]", "test[865:] m", "test[:1] m", "[865:1] m", "test[865:1]m", "test[865:1"].map {
                "2016-02-13 22:05:12.856 " + $0
            }
        for text in texts { XCTAssertNil(line(text), text) }
    }
}
