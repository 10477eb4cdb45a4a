import DeliveryDiagnostics
import XCTest

@testable import DeliveryBenchmarks

final class BenchmarkNoiseTests: XCTestCase {
    private static let steady = [100.0, 101, 99, 100, 102, 98, 100]
    private static let unsteady = [100.0, 180, 90, 170, 60, 150, 110]
    private static let quiet = ProcessorTimes(busy: 11, stolen: 0, all: 20, own: 10)

    private func findings(
        control: [Double] = steady, ours: [Double] = steady, controlName: String? = "control",
        times: ProcessorTimes? = quiet, isPinned: Bool = true
    ) -> [String] {
        BenchmarkNoise.findings(
            in: [WorkloadResultTests.result(control: controlName, figures: [("control", control), ("ours", ours)])],
            times: times, isPinned: isPinned)
    }

    func testAQuietMachineHasNoFindings() {
        XCTAssertEqual(findings(), [])
        XCTAssertEqual(findings(times: nil), [])
    }

    func testStolenTimeAndOtherProgramsAreReportedWithTheirShare() {
        let stolen = findings(times: ProcessorTimes(busy: 10, stolen: 1, all: 20, own: 10))
        XCTAssertEqual(stolen, ["The machine below this one took 5 % of the processor time (steal)."])
        let others = findings(times: ProcessorTimes(busy: 15, stolen: 0, all: 20, own: 10))
        XCTAssertEqual(others, ["Other programs and the system took 25 % of the processor time."])
    }

    func testAFewClockTicksAreNotReported() {
        XCTAssertEqual(findings(times: ProcessorTimes(busy: 0.4, stolen: 0.1, all: 0.5, own: 0.1)), [])
    }

    func testABaselineWithALargeSpreadIsReportedAndAContenderWithOneIsNot() throws {
        let finding = try XCTUnwrap(findings(control: Self.unsteady).first)
        XCTAssertTrue(finding.hasSuffix(": burst-4 59 %."))
        XCTAssertEqual(findings(ours: Self.unsteady), [])
    }

    func testASpreadOfANanosecondIsNotNoiseEvenIfTheBaselineTakesNoLonger() {
        XCTAssertEqual(findings(control: [1.4, 2.2, 0.6, 1.4, 2.4, 1.5, 1.4]), [])
    }

    func testWithoutABaselineTheMedianSpreadOfTheContendersIsUsed() {
        XCTAssertEqual(findings(controlName: nil), [])
        XCTAssertEqual(findings(control: Self.unsteady, ours: Self.unsteady, controlName: nil).count, 1)
    }

    func testTheFindingForUnpinnedThreadsSuggestsToPinThem() throws {
        XCTAssertTrue(try XCTUnwrap(findings(control: Self.unsteady, isPinned: false).first).hasSuffix("--pin."))
    }

    func testProcessorTimesAreReadAsTheKernelWritesThem() throws {
        let text = "cpu  3452098 1746 720336 4226557 18454 0 4182 7569 12 0\ncpu0 1 2 3\n"
        let times = try XCTUnwrap(ProcessorTimes(stat: text, ticks: 100, own: 7))
        XCTAssertLessThan(abs(times.busy - 41783.62), 0.001)
        XCTAssertLessThan(abs(times.stolen - 75.69), 0.001)
        XCTAssertLessThan(abs(times.all - 84309.42), 0.001)
        XCTAssertEqual(times.own, 7)
        XCTAssertEqual(times.since(times), ProcessorTimes(busy: 0, stolen: 0, all: 0, own: 0))
    }

    func testATextOfAnotherFormatHasNoTimes() {
        for text in ["", "cpu", "cpu 1 2 3\n", "intr 1 2 3 4 5 6 7 8\n"] { noTimes(text: text) }
    }

    private func noTimes(text: String) {
        XCTAssertNil(ProcessorTimes(stat: text, ticks: 100, own: 0))
    }

    func testThisMachineReportsItsTimes() throws {
        let one = try XCTUnwrap(ProcessorTimes.now)
        let other = try XCTUnwrap(ProcessorTimes.now)
        XCTAssertTrue(other.all >= one.all && other.own >= one.own && other.own > 0)
        XCTAssertGreaterThan(BenchmarkMachine.current.cores, 0)
    }

    func testAProcessorsNameIsTheTextAfterItsHeading() {
        XCTAssertEqual(BenchmarkMachine.model(cpuinfo: "processor\t: 0\nmodel name\t: AMD  EPYC: 7\n"), "AMD EPYC: 7")
        XCTAssertEqual(BenchmarkMachine.model(cpuinfo: "processor\t: 0\n"), "unknown processor")
    }
}
