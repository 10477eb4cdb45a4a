import ChildProcesses
import DeliveryDiagnostics
import Foundation
import SharedTesting
import XCTest

@testable import DeliveryBenchmarks

final class BenchmarkComparisonTests: XCTestCase {
    private static func report(
        control: [Double] = [20], ours: [Double], others: [(String, [Double])] = []
    ) -> BenchmarkReport {
        BenchmarkReport(
            BenchmarkRun(conditions: BenchmarkConditions()),
            machine: BenchmarkMachine(cores: 2, model: "AMD EPYC", load: 0.16, build: "release"), seconds: 1, noise: [],
            workloads: [
                WorkloadResultTests.result("burst-1", figures: [("control", control), ("ours", ours)] + others)
            ])
    }

    private func comparison(_ before: BenchmarkReport, _ now: BenchmarkReport) throws -> BenchmarkComparison {
        let earlier = try EarlierReport(json: Data(JSONText.of(before).utf8))
        return BenchmarkComparison(of: now, with: earlier)
    }

    private func verdict(_ before: BenchmarkReport, _ now: BenchmarkReport) throws -> BenchmarkComparison.Verdict? {
        try comparison(before, now).rows.first { $0.contender == "ours" }?.verdict
    }

    func testARowIsSlowerOrFasterIfItsRatioIsBeyondFivePercent() throws {
        XCTAssertEqual(try verdict(Self.report(ours: [100]), Self.report(ours: [106])), .slower)
        XCTAssertEqual(try verdict(Self.report(ours: [100]), Self.report(ours: [104])), .same)
        XCTAssertEqual(try verdict(Self.report(ours: [106]), Self.report(ours: [100])), .faster)
        XCTAssertTrue(try comparison(Self.report(ours: [100]), Self.report(ours: [106])).hasSlower)
        XCTAssertFalse(try comparison(Self.report(ours: [106]), Self.report(ours: [100])).hasSlower)
    }

    func testTheSpreadsOfBothRunsAreNoise() throws {
        let row = try comparison(Self.report(ours: [80, 100, 120]), Self.report(ours: [104, 130, 156])).rows[1]
        XCTAssertEqual(row.noise ?? 0, (0.04 + 0.04).squareRoot(), accuracy: 0.001)
        XCTAssertEqual(row.verdict, .slower)
        XCTAssertEqual(try verdict(Self.report(ours: [80, 100, 120]), Self.report(ours: [100, 125, 150])), .same)
    }

    func testTheDifferencesBetweenSeveralEarlierRunsAreNoise() throws {
        func earlier(_ figures: [Double]) throws -> EarlierReport {
            try EarlierReport(json: Data(JSONText.of(Self.report(ours: figures)).utf8))
        }
        let runs = try [[99, 100, 101], [130], [102]].map(earlier)
        let row = BenchmarkComparison(
            of: Self.report(ours: [120]), with: try EarlierReport(joining: runs)
        ).rows[1]
        XCTAssertEqual(row.before, 102)
        XCTAssertEqual(row.noise ?? 0, 30 / 102, accuracy: 0.001)
        XCTAssertEqual(row.verdict, .same)
        XCTAssertEqual(
            BenchmarkComparison(of: Self.report(ours: [120]), with: try EarlierReport(joining: [runs[0]])).rows[1]
                .verdict,
            .slower)
    }

    func testEarlierRunsWithOtherConditionsAreAnError() throws {
        var runs = try (0..<2).map { _ in
            try EarlierReport(json: Data(JSONText.of(Self.report(ours: [1])).utf8))
        }
        XCTAssertNoThrow(try EarlierReport(joining: runs))
        runs[1].pin = [0]
        XCTAssertThrowsError(try EarlierReport(joining: runs)) {
            XCTAssertEqual($0 as? BenchmarkError, .differentRuns)
        }
    }

    func testAReportWithAFieldThatThisProgramDoesNotWriteIsCompared() throws {
        let old = try JSONText.of(Self.report(ours: [100])).replacing("\"pin\"", with: "\"spins\":true,\"pin\"")
        let comparison = BenchmarkComparison(
            of: Self.report(ours: [120]), with: try EarlierReport(json: Data(old.utf8)))
        XCTAssertTrue(comparison.hasSlower && comparison.differences.isEmpty)
    }

    func testARowThatIsSlowerBecauseTheMachineIsIsNotSlower() throws {
        let before = Self.report(ours: [100])
        XCTAssertEqual(try verdict(before, Self.report(control: [30], ours: [150])), .same)
        XCTAssertEqual(try verdict(before, Self.report(control: [22], ours: [150])), .slower)
        XCTAssertFalse(try comparison(before, Self.report(control: [30], ours: [100])).hasSlower, "only the control is")
    }

    func testARowThatOneRunDoesNotHaveIsListedAndNotCompared() throws {
        let comparison = try comparison(
            Self.report(ours: [100], others: [("gone", [1]), ("failed", [1])]),
            Self.report(ours: [100], others: [("new", [1]), ("failed", [])]))
        XCTAssertEqual(
            comparison.rows.map { "\($0.contender) \($0.verdict)" },
            ["control same", "ours same", "new notCompared", "failed notCompared", "gone notCompared"])
        let lines = comparison.text().split(separator: "\n")
        XCTAssertTrue(lines.contains { $0.contains("gone") && $0.hasSuffix("not measured now") })
        XCTAssertTrue(lines.contains { $0.contains("new") && $0.hasSuffix("not measured before") })
    }

    func testAWorkloadThatIsOnlyInTheFileIsListed() throws {
        var now = Self.report(ours: [100])
        now.workloads = []
        let rows = try comparison(Self.report(ours: [100]), now).rows
        XCTAssertEqual(rows.map { "\($0.contender) \($0.verdict)" }, ["control notCompared", "ours notCompared"])
    }

    func testAFigureOfZeroIsNotCompared() throws {
        let comparison = try comparison(Self.report(ours: [0]), Self.report(ours: [1]))
        XCTAssertTrue(comparison.text().hasSuffix("a figure is zero"), comparison.text())
        XCTAssertFalse(comparison.hasSlower)
    }

    func testTheTableHasTheFiguresTheirRatioAndAMark() throws {
        let comparison = try comparison(Self.report(ours: [100]), Self.report(ours: [150]))
        XCTAssertEqual(
            comparison.text(),
            """
                                        before   now  ratio  noise
            burst-1  control (control)    20.0  20.0   1.00    5 %
            burst-1  ours                  100   150   1.50    5 %  SLOWER
            """)
        XCTAssertTrue(comparison.markdown().hasSuffix("\n| burst-1 | ours | 100 | 150 | 1.50 | 5 % | SLOWER |"))
    }

    func testConditionsThatDifferAreListed() throws {
        var now = Self.report(ours: [100])
        XCTAssertEqual(try comparison(now, now).differences, [])
        let before = now
        now.pin = [0, 1]
        now.isQuick = true
        XCTAssertEqual(
            try comparison(before, now).differences,
            ["The threads: not pinned before, pinned to 0,1 now.", "The run: whole before, quick now."])
    }

    func testAFileThatIsNoReportOrHasAnotherSchemaIsRefused() throws {
        var report = Self.report(ours: [100])
        report.schema = 99
        for text in ["", "{}", try JSONText.of(report)] {
            XCTAssertThrowsError(try EarlierReport(json: Data(text.utf8))) { error in
                guard case BenchmarkError.noReport? = error as? BenchmarkError else { return XCTFail("\(error)") }
            }
        }
    }

    func testCompareMeasuresTheWorkloadsOfTheFileAndRefusesWhatItCannotRead() async throws {
        // All figures but those of the control, which comes first.
        let compared = try Shell.run(
            """
            cd "$(mktemp -d)" && notify-bench --quick same-thread-1 --json > before.json && sed -i -E \
            's/"(median|spread)":[0-9.e-]*/"\\1":1e-9/3g' before.json && notify-bench --quick --compare before.json
            """)
        XCTAssertEqual(compared.end, .exit(1), "\(compared.errors)")
        XCTAssertTrue(compared.output.contains("SLOWER"), compared.output)
        XCTAssertFalse(compared.output.contains("burst"), compared.output)
        let missing = try Shell.run("notify-bench --quick same-thread-1 --compare /nowhere/before.json")
        XCTAssertEqual(missing.end, .exit(2))
        XCTAssertTrue(missing.errors.contains("cannot read /nowhere/before.json"), missing.errors)
        let unknown = try Shell.run(
            """
            cd "$(mktemp -d)" && notify-bench --quick same-thread-1 --json | sed s/same-thread-1/gone/g > before.json && \
            notify-bench --quick --compare before.json
            """)
        XCTAssertEqual(unknown.end, .exit(64))
        XCTAssertTrue(unknown.errors.contains("it has no workload of this program"), unknown.errors)
        let other = try Shell.run(
            "cd $(mktemp -d) && echo {} > other && notify-bench --quick same-thread-1 --compare other")
        XCTAssertEqual(other.end, .exit(64))
        XCTAssertTrue(other.errors.contains("it is no report"), other.errors)
    }
}
