import XCTest

@testable import notify_bench

final class BenchmarkNoiseTests: XCTestCase {
    private static let steady = [100.0, 101, 99, 100, 102, 98, 100]
    private static let unsteady = [100.0, 180, 90, 170, 60, 150, 110]

    private func findings(
        control: [Double] = steady, ours: [Double] = steady, controlName: String? = "control", isPinned: Bool = true
    ) -> [String] {
        BenchmarkNoise.findings(
            in: [.drawn(control: controlName, [("control", control), ("ours", ours)])], isPinned: isPinned)
    }

    func testABaselineWithALargeSpreadIsReportedOrElseTheMedianSpreadOfTheContenders() throws {
        XCTAssertEqual(findings(), [])
        XCTAssertEqual(findings(ours: Self.unsteady), [], "only the baseline shows noise")
        XCTAssertEqual(findings(control: [1.4, 2.2, 0.6, 1.4, 2.4, 1.5, 1.4]), [], "a nanosecond is none")
        XCTAssertTrue(try XCTUnwrap(findings(control: Self.unsteady).first).hasSuffix(": burst-4 59 %."))
        XCTAssertTrue(try XCTUnwrap(findings(control: Self.unsteady, isPinned: false).first).hasSuffix("--pin."))
        XCTAssertEqual(findings(controlName: nil), [])
        XCTAssertEqual(findings(control: Self.unsteady, ours: Self.unsteady, controlName: nil).count, 1)
    }
}
