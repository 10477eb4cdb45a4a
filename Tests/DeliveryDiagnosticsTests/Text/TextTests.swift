import XCTest

@testable import DeliveryDiagnostics

final class TextTests: XCTestCase {
    func testDurationsHaveThreeDigitsAndASuitableUnit() {
        let texts: [(Int64, String)] = [
            (0, "0 ns"), (999, "999 ns"), (1000, "1 µs"), (9_994, "9.99 µs"), (9_996, "10 µs"), (99_960, "100 µs"),
            (412_499, "412 µs"), (999_600, "1 ms"), (5_743_000, "5.74 ms"), (1_234_000_000, "1.23 s"),
            (5_000_000_000_000, "5000 s"), (-41_000, "-41 µs"), (.min, "-9223372037 s"),
        ]
        for (nanoseconds, text) in texts {
            XCTAssertEqual(ElapsedTime(nanoseconds: nanoseconds).description, text)
            guard nanoseconds >= 0 else { continue }
            XCTAssertEqual(ElapsedTime(ElapsedTime.exact(nanoseconds))?.nanoseconds, nanoseconds)
        }
    }

    func testADurationInATableAlwaysHasThreeDigits() {
        let cells: [(UInt64?, String)] = [(999, "999 ns"), (41_000, "41.0 µs"), (5_000_000, "5.00 ms"), (nil, "–")]
        for (nanoseconds, cell) in cells { XCTAssertEqual(ElapsedTime.cell(nanoseconds), cell) }
    }

    func testDurationsAreParsedWithAUnit() {
        let parsed: [(String, Int64)] = [
            ("2m", 120_000_000_000), ("0.5 m", 30_000_000_000), ("2ms", 2_000_000), ("1.5us", 1500), ("3 µs", 3000),
            ("1h", 3_600_000_000_000), ("1d", 86_400_000_000_000),
        ]
        for (text, nanoseconds) in parsed { XCTAssertEqual(ElapsedTime(text)?.nanoseconds, nanoseconds, text) }
        for text in ["", "5", "ms", "-3ms", "1.2.3s", "1e400s", "4000000000s", "3 w", "٣ms"] {
            XCTAssertNil(ElapsedTime(text), text)
        }
    }

    func testTheNearestCandidateIsSuggestedIfItMayBeATypingErrorABeginningOrWithoutItsModule() {
        let candidates = ["diagnose", "check", "jobs.JobArrived", "timeline"]
        for (word, nearest) in [
            ("dianose", "diagnose"), ("Chekc", "check"), ("tim", "timeline"), ("JobArrived", "jobs.JobArrived"),
            ("JobArived", "jobs.JobArrived"), ("timelinen", "timeline"), ("show", nil), ("", nil), ("ti", nil),
        ] { XCTAssertEqual(Suggestion.nearest(to: word, among: candidates), nearest, word) }
    }
}
