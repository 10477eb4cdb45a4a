import ChildProcesses
import SharedTesting
import XCTest

@testable import notify_bench

final class BenchmarkComparisonTests: XCTestCase {
    private static func report(
        control: [Double] = [20], ours: [Double], others: [(String, [Double])] = []
    ) -> BenchmarkReport {
        .drawn([.drawn(named: "burst-1", [("control", control), ("ours", ours)] + others)])
    }

    private func ours(_ before: BenchmarkReport, _ now: BenchmarkReport) -> BenchmarkComparison.Row? {
        BenchmarkComparison(of: now, with: before).rows.first { $0.contender == "ours" }
    }

    func testARowIsSlowerOrFasterIfItsRatioIsBeyondFivePercentAndTheSpreadsOfBothRuns() throws {
        for (before, now, verdict) in [
            ([100.0], [106.0], BenchmarkComparison.Verdict.slower), ([100], [104], .same), ([106], [100], .faster),
            ([80, 100, 120], [104, 130, 156], .slower), ([80, 100, 120], [100, 125, 150], .same),
        ] {
            let row = try XCTUnwrap(ours(Self.report(ours: before), Self.report(ours: now)))
            XCTAssertEqual(row.verdict, verdict, "\(before) \(now)")
        }
    }

    func testASlowerMachineIsNoSlowerRow() throws {
        let before = Self.report(ours: [100])
        XCTAssertEqual(ours(before, Self.report(control: [30], ours: [150]))?.verdict, .same)
        XCTAssertFalse(BenchmarkComparison(of: Self.report(control: [30], ours: [100]), with: before).hasSlower)
    }

    func testTheTableHasTheFiguresTheirRatioAMarkAndTheRowsThatOneRunDoesNotHave() throws {
        let before = BenchmarkReport.drawn(
            Self.report(ours: [100], others: [("gone", [1]), ("failed", [1]), ("free", [0])]).workloads
                + [.drawn(named: "old-1", control: nil, [("ours", [1])])])
        let now = Self.report(ours: [150], others: [("new", [1]), ("failed", []), ("free", [1])])
        XCTAssertEqual(
            BenchmarkComparison(of: now, with: before).text(),
            """
                                        before   now  ratio  noise
            burst-1  control (control)    20.0  20.0   1.00    5 %
            burst-1  ours                  100   150   1.50    5 %  SLOWER
            burst-1  new                     –  1.00      –      –  not measured before
            burst-1  failed               1.00     –      –      –  not measured now
            burst-1  free                 0.00  1.00      –      –  a figure is zero
            burst-1  gone                 1.00     –      –      –  not measured now
            old-1    ours                 1.00     –      –      –  not measured now
            """)
    }

    func testCompareMeasuresTheWorkloadsOfTheFileAndRefusesAFileThatIsNoReport() async throws {
        // All figures but those of the control, which comes first. An earlier version wrote a field more.
        let compared = try Shell.run(
            """
            cd "$(mktemp -d)" && notify-bench --quick same-thread-1 --json > before.json && sed -i -E \
            -e 's/"(median|spread)":[0-9.e-]*/"\\1":1e-9/3g' -e 's/"rounds"/"pin":[],"rounds"/' before.json \
            && notify-bench --quick --compare before.json
            """)
        XCTAssertEqual(compared.end, .exit(1), "\(compared.errors)")
        XCTAssertTrue(compared.output.contains("SLOWER"), compared.output)
        XCTAssertFalse(compared.output.contains("burst") || compared.errors.contains("differ"), compared.output)
        let refused = try Shell.inDirectory(
            """
            notify-bench --quick same-thread-1 --json > a; echo {} > empty; sed s/same-thread-1/gone/g a > gone
            sed 's/"schema":1/"schema":99/' a > later
            for file in /nowhere empty gone later; do notify-bench --compare $file; echo $?; done
            """)
        XCTAssertEqual(refused.output, "2\n64\n64\n64\n")
        for says in [
            "cannot read /nowhere", "it is no report", "no workload of this program", "its schema is 99",
        ] { XCTAssertTrue(refused.errors.contains(says), refused.errors) }
    }
}
