import DeliveryDiagnostics
import XCTest

final class TextTests: XCTestCase {
    func testDurationsHaveThreeDigitsAndASuitableUnit() {
        let texts: [(Int64, String, String)] = [
            (0, "0 ns", "0 ns"), (999, "999 ns", "999 ns"), (1000, "1 µs", "1.00 µs"), (9_994, "9.99 µs", "9.99 µs"),
            (9_996, "10 µs", "10.0 µs"), (99_960, "100 µs", "100 µs"), (412_499, "412 µs", "412 µs"),
            (999_600, "1 ms", "1.00 ms"), (5_743_000, "5.74 ms", "5.74 ms"), (1_234_000_000, "1.23 s", "1.23 s"),
            (5_000_000_000_000, "5000 s", "5000 s"), (86_400_000_000_000, "86400 s", "86400 s"),
        ]
        for (nanoseconds, text, cell) in texts {
            XCTAssertEqual(ElapsedTime(nanoseconds: nanoseconds).description, text)
            XCTAssertEqual(ElapsedTime.cell(UInt64(nanoseconds)), cell)
            XCTAssertEqual(ElapsedTime(ElapsedTime.exact(nanoseconds))?.nanoseconds, nanoseconds)
        }
        XCTAssertEqual(ElapsedTime(nanoseconds: -41_000).description, "-41 µs")
        XCTAssertEqual(ElapsedTime(nanoseconds: .min).description, "-9223372037 s")
        XCTAssertEqual(ElapsedTime.cell(nil), "–")
    }

    func testDurationsAreParsedWithAUnit() {
        let parsed: [(String, Int64)] = [
            ("2m", 120_000_000_000), ("0.5 m", 30_000_000_000), ("2ms", 2_000_000), ("1.5us", 1500), ("3 µs", 3000),
            ("1h", 3_600_000_000_000),
        ]
        for (text, nanoseconds) in parsed { XCTAssertEqual(ElapsedTime(text)?.nanoseconds, nanoseconds, text) }
        for text in ["", "5", "ms", "-3ms", "1.2.3s", "1e400s", "4000000000s", "3 w", "٣ms"] {
            XCTAssertNil(ElapsedTime(text), text)
        }
    }

    func testNumbersHaveAtMostSevenCharacters() {
        XCTAssertEqual(
            [Quantity.count(0), Quantity.recorded(0), Quantity.exact(0), Quantity.count(nil)], ["0", "–", "–", "–"])
        XCTAssertEqual(
            [999_999, 1_000_000, 45_610_000, 2_000_000_000].map(Quantity.count),
            ["999999", "1.00 M", "45.6 M", "2.00 G"])
        XCTAssertEqual(
            [counted(1, "post"), counted(2, "post"), counted(0, "process", plural: "processes")],
            ["1 post", "2 posts", "0 processes"])
    }
}
