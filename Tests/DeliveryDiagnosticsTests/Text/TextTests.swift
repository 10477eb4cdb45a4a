import DeliveryDiagnostics
import XCTest

final class TextTests: XCTestCase {
    func testDurationsHaveThreeDigitsAndAUnitUpToSecondsAndAllDigitsAreReadAgain() {
        let texts: [(Int64, String, String)] = [
            (0, "0 ns", "0ns"), (999, "999 ns", "999ns"), (1000, "1 µs", "1us"), (9_996, "10 µs", "9.996us"),
            (412_499, "412 µs", "412.499us"), (999_600, "1 ms", "0.9996ms"), (71_396_584, "71.4 ms", "71.396584ms"),
            (5_000_000_000_000, "5000 s", "5000s"), (-41_000, "-41 µs", "-41us"),
        ]
        for (nanoseconds, text, exact) in texts {
            XCTAssertEqual(ElapsedTime(nanoseconds: nanoseconds).description, text)
            XCTAssertEqual(ElapsedTime.exact(nanoseconds), exact)
            if nanoseconds >= 0 { XCTAssertEqual(ElapsedTime(exact)?.nanoseconds, nanoseconds) }
        }
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
        XCTAssertEqual([Quantity.recorded(0), Quantity.exact(0), Quantity.count(nil)], ["–", "–", "–"])
        XCTAssertEqual(
            [Quantity.count(0), Quantity.count(999_999), Quantity.count(1_000_000)], ["0", "999999", "1.00 M"])
        XCTAssertEqual(
            [0.417, 45.61, 998, 999.5, 2e9].map(Quantity.number), ["0.42", "45.6", "998", "1.00 k", "2.00 G"])
        XCTAssertEqual([counted(1, "post"), counted(0, "process", plural: "processes")], ["1 post", "0 processes"])
    }
}
