import ChildProcesses
import DeliveryBenchmarks
import Foundation
import SharedTesting
import XCTest

/// The output of `notify-bench`, apart from the measured values.
final class NotifyBenchTests: XCTestCase {
    /// A core that the tests may run on.
    private static let core = ProcessorCores.available.first ?? 0

    private func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }

    func testQuickMeasuresTheNamedWorkloadsOnceInTheOrderOfTheArgumentsInJSONAsOneObject() async throws {
        let outcome = try Shell.run("notify-bench --quick round-trip same-thread-10 same-thread --json")
        XCTAssertEqual(outcome.end, .exit(0), "\(outcome.errors)")
        XCTAssertEqual(lines(outcome.output).count, 1)
        let report = try XCTUnwrap(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
        XCTAssertEqual(report["rounds"] as? Int, 3)
        XCTAssertEqual(report["quick"] as? Bool, true)
        let workloads = try XCTUnwrap(report["workloads"] as? [[String: Any]])
        let family = Workloads.named("same-thread").map(\.name).filter { $0 != "same-thread-10" }
        XCTAssertEqual(workloads.compactMap { $0["name"] as? String }, ["round-trip", "same-thread-10"] + family)
        for workload in workloads {
            for contender in try XCTUnwrap(workload["contenders"] as? [[String: Any]]) {
                let name = "\(workload["name"] ?? ""), \(contender["name"] ?? "")"
                XCTAssertEqual((contender["figures"] as? [Double])?.count, 3, "\(name)")
                XCTAssertNil(contender["problem"], "\(name)")
            }
        }
    }

    func testTheTextNamesTheMachineAndFitsTheColumns() async throws {
        for columns in [80, 120] {
            let outcome = try Shell.run(
                "COLUMNS=\(columns) notify-bench --quick --rounds 2 same-thread-1 round-trip perform")
            XCTAssertTrue(lines(outcome.output).joined(separator: " ").contains("2 rounds, a quick look"))
            for line in lines(outcome.output) { XCTAssertLessThanOrEqual(line.count, columns, "\(line)") }
        }
    }

    func testMarkdownBeginsWithTheCommandThatPrintsTheSameTables() async throws {
        let outcome = try Shell.run(
            "notify-bench --markdown same-thread-1 --quick --rounds 2 --pin \(Self.core)")
        XCTAssertEqual(outcome.end, .exit(0), "\(outcome.errors)")
        XCTAssertFalse(outcome.output.contains("notify-bench:"), "messages go to standard error")
        let text = lines(outcome.output)
        XCTAssertEqual(
            text.first?.hasPrefix(
                "`notify-bench same-thread-1 --pin \(Self.core) --quick --rounds 2 --markdown`: "), true)
        XCTAssertEqual(text.first?.contains("; pinned to core \(Self.core); "), true)
        XCTAssertTrue(text.dropFirst().allSatisfy { $0.hasPrefix("| ") && $0.hasSuffix(" |") })
        let columns = Set(text.dropFirst().map { row in row.split(separator: "|").count })
        XCTAssertEqual(columns.count, 1)
    }

    func testWithPinAllThreadsRunOnTheGivenCores() async throws {
        let outcome = try Shell.run("notify-bench burst-1 round-trip --quick --json --pin \(Self.core)")
        XCTAssertEqual(outcome.end, .exit(0), "\(outcome.errors)")
        XCTAssertTrue(outcome.output.contains("\"pin\":[\(Self.core)]"))
    }

    func testTheListHasEachWorkloadWithItsSummaryAndAsJSONItsContenders() async throws {
        let text = try Shell.run("notify-bench --list")
        let json = try Shell.run("notify-bench --list --json same-thread round-trip")
        XCTAssertTrue(text.end == .exit(0) && json.end == .exit(0))
        for workload in Workloads.all {
            XCTAssertTrue(
                lines(text.output).contains { $0.hasPrefix("\(workload.name) ") && $0.hasSuffix(workload.summary) })
        }
        XCTAssertEqual(lines(json.output).count, Workloads.named("same-thread").count + 1)
        XCTAssertEqual(lines(json.output).last?.contains("\"ThreadedNotificationCenter\""), true)
    }

    func testAFullDiskIsAnErrorWithAMessage() async throws {
        let outcome = try Shell.run("notify-bench --quick same-thread-1 > /dev/full")
        XCTAssertEqual(outcome.end, .exit(2))
        XCTAssertTrue(outcome.errors.contains("cannot write to standard output: No space left on device"))
    }

    func testAUsageErrorNamesTheArgumentAndWhatToGiveInstead() async throws {
        for (arguments, says) in [
            ("brust", "Did you mean \"burst\"?"),
            ("burst xyzzy", "'notify-bench --list' lists them"),
            ("--rounds 0", "--rounds is 0, and must be from 1 to 1000"),
            ("--rounds 1001", "must be from 1 to 1000"),
            ("--pin 4096", "--pin names core 4096, and this process may run on "),
            ("--pin 0,", "must be one core or two"),
            ("--pin 0,0,0", "must be one core or two"),
            ("--pin -1", "--pin"),
            ("--json --markdown", "Give only one of them"),
            ("--list --quick", "--list measures nothing"),
        ] { try await usageErrors(arguments: arguments, says: says) }
    }

    private func usageErrors(arguments: String, says: String) async throws {
        let outcome = try Shell.run("notify-bench \(arguments)")
        XCTAssertEqual(outcome.end, .exit(64))
        XCTAssertEqual(outcome.output, "")
        XCTAssertTrue(outcome.errors.contains(says), "\(outcome.errors)")
    }

    func testTheHelpHasExamplesAndHidesTheObserversProcessAndCompletionsOfferWorkloadsAndOptions() async throws {
        let help = try Shell.run("notify-bench --help")
        XCTAssertEqual(help.end, .exit(0))
        XCTAssertTrue(help.output.contains("EXAMPLES") && !help.output.contains(ObserversProgram.subcommand))
        let script = try Shell.run("notify-bench --generate-completion-script bash")
        XCTAssertEqual(script.end, .exit(0))
        XCTAssertTrue(script.output.contains("round-trip") && script.output.contains("--compare"))
    }
}
