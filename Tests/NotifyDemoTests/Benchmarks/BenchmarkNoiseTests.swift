import XCTest

@testable import notify_bench

final class BenchmarkNoiseTests: XCTestCase {
    private static let steady = [100.0, 101, 99, 100, 102, 98, 100]
    private static let unsteady = [100.0, 180, 90, 170, 60, 150, 110]
    private static let quiet = ProcessorTimes(busy: 11, stolen: 0, all: 20, own: 10)

    private func findings(
        control: [Double] = steady, ours: [Double] = steady, controlName: String? = "control",
        times: ProcessorTimes? = quiet, isPinned: Bool = true
    ) -> [String] {
        BenchmarkNoise.findings(
            in: [.drawn(control: controlName, [("control", control), ("ours", ours)])], times, isPinned: isPinned)
    }

    func testAQuietMachineHasNoFindings() {
        XCTAssertEqual(findings(), [])
        XCTAssertEqual(findings(times: nil), [])
        XCTAssertEqual(findings(ours: Self.unsteady), [], "only the baseline shows noise")
        XCTAssertEqual(findings(control: [1.4, 2.2, 0.6, 1.4, 2.4, 1.5, 1.4]), [], "a nanosecond is none")
        let ticks = ProcessorTimes(busy: 0.4, stolen: 0.1, all: 0.5, own: 0.1)
        XCTAssertEqual(findings(times: ticks), [], "a few ticks of the clock are none")
    }

    func testStolenTimeAndOtherProgramsAreReportedWithTheirShare() {
        let stolen = findings(times: ProcessorTimes(busy: 10, stolen: 1, all: 20, own: 10))
        XCTAssertEqual(stolen, ["The machine below this one took 5 % of the processor time (steal)."])
        let others = findings(times: ProcessorTimes(busy: 15, stolen: 0, all: 20, own: 10))
        XCTAssertEqual(others, ["Other programs and the system took 25 % of the processor time."])
    }

    func testABaselineWithALargeSpreadIsReportedOrElseTheMedianSpreadOfTheContenders() throws {
        XCTAssertTrue(try XCTUnwrap(findings(control: Self.unsteady).first).hasSuffix(": burst-4 59 %."))
        XCTAssertTrue(try XCTUnwrap(findings(control: Self.unsteady, isPinned: false).first).hasSuffix("--pin."))
        XCTAssertEqual(findings(controlName: nil), [])
        XCTAssertEqual(findings(control: Self.unsteady, ours: Self.unsteady, controlName: nil).count, 1)
    }

    func testProcessorTimesAreReadAsTheKernelWritesThem() throws {
        let text = "cpu  3452098 1746 720336 4226557 18454 0 4182 7569 12 0\ncpu0 1 2 3\n"
        let times = try XCTUnwrap(ProcessorTimes(stat: text, ticks: 100, own: 7))
        XCTAssertEqual(times.busy, 41783.62, accuracy: 0.001)
        XCTAssertEqual(times.stolen, 75.69, accuracy: 0.001)
        XCTAssertEqual(times.all, 84309.42, accuracy: 0.001)
        for text in ["", "cpu", "cpu 1 2 3\n", "intr 1 2 3 4 5 6 7 8\n"] {
            XCTAssertNil(ProcessorTimes(stat: text, ticks: 100, own: 0))
        }
        let (one, other) = (try XCTUnwrap(ProcessorTimes.now), try XCTUnwrap(ProcessorTimes.now))
        XCTAssertTrue(other.all >= one.all && other.own >= one.own && other.own > 0)
    }
}
