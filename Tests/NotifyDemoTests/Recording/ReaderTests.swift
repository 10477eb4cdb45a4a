import ArgumentParser
import DeliveryDiagnostics
import Foundation
import Scenarios
import SharedTesting
import TerminalText
import XCTest

@testable import notify_demo

/// The commands that read a recording.
final class ReaderTests: XCTestCase {
    /// The machines need programs that are not built here.
    private static let scenarios = ScenarioCatalog.all.map(\.name).filter { $0 != "machines" }

    /// A directory with a recording of each scenario, which is made once.
    private static let recordings = Result {
        let directory = "/dev/shm/notify-demo-\(getpid())"
        atexit { _ = try? FileManager.default.removeItem(atPath: "/dev/shm/notify-demo-\(getpid())") }
        let commands = scenarios.map { scenario in
            let options = scenario == "flood" ? " --drop-signals 1 --notifications 2000" : ""
            return "notify-demo run \(scenario)\(options) -o \(directory)/\(scenario).jsonl &>/dev/null &"
        }
        _ = try Shell.run("mkdir -p \(directory); \(commands.joined(separator: "\n")) wait")
        return directory
    }

    private func recording(_ scenario: String) throws -> String { "\(try Self.recordings.get())/\(scenario).jsonl" }

    /// A busy machine may delay a thread, so there are no limits on time.
    private static let diagnose = ["diagnose", "--main-budget", "60m", "--stall", "60m"]

    /// Runs a command line in this process. The output of a command that fails is its message.
    private func run(_ arguments: [String]) throws -> (status: ExitStatus, output: String) {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        let terminal = try Terminal(command: "test", output: file.path)
        // Parsing it as a subcommand of `NotifyDemo` takes longer.
        let subcommands = NotifyDemo.configuration.groupedSubcommands.flatMap(\.subcommands)
        let subcommand = try XCTUnwrap(subcommands.first { $0._commandName == arguments[0] })
        let command = try XCTUnwrap(subcommand.parse(Array(arguments.dropFirst())) as? any Command)
        do {
            let status = try command.perform(terminal)
            try terminal.standardOutput.finish()
            return (status, try String(contentsOf: file, encoding: .utf8))
        } catch { return (.error, "\(error)") }
    }

    private func object(_ arguments: [String]) throws -> [String: Any] {
        let output = try run(arguments).output
        return try XCTUnwrap(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any], output)
    }

    /// Runs shell lines in a directory of their own with the recording of a scenario, `notifications.jsonl`.
    private func shell(_ lines: String, of scenario: String = "redirect") throws -> Shell.Outcome {
        try Shell.inDirectory("cp \(try recording(scenario)) notifications.jsonl\n\(lines)")
    }

    func testEachScenariosRecordingHasTheExpectedFindingsAndIsDrawn() throws {
        for scenario in Self.scenarios {
            let file = try recording(scenario)
            let findings = try XCTUnwrap(try object(Self.diagnose + ["--json", file])["findings"] as? [[String: Any]])
            let problems = findings.filter { $0["severity"] as? String == "problem" || scenario != "flood" }
            // Listing 1 is the document's problem.
            let expected: Set = scenario == "posting-thread" ? ["onPostingThread"] : []
            let kinds = Set(problems.compactMap { $0["kind"] as? String }).subtracting(["flood"])
            XCTAssertEqual(kinds, expected, scenario)
            XCTAssertEqual(findings.contains { $0["kind"] as? String == "flood" }, scenario == "flood", scenario)
            XCTAssertTrue(try run(["timeline", file]).output.contains("main"), scenario)
            XCTAssertTrue(try run(["timeline", "--svg", file]).output.hasSuffix("</svg>\n"), scenario)
        }
    }

    func testACommandWithoutARecordingReadsNotificationsJsonlOrSaysHowToMakeItAndATerminalGetsItsColumns() throws {
        let outcome = try shell(
            """
            notify-demo stats > a && notify-demo stats notifications.jsonl | cmp - a
            TERM=xterm script -qec 'stty cols 101; notify-demo timeline --limit 0' /dev/null; notify-demo timeline
            rm notifications.jsonl; notify-demo stats; echo $?
            """, of: "many-observers")
        XCTAssertEqual(
            outcome.errors,
            "notify-demo: there is no notifications.jsonl here. Name a recording, or record a program first: "
                + "notify-demo record -- ./my-program\n")
        XCTAssertTrue(outcome.output.hasSuffix("\n2\n") && outcome.output.contains("\u{1B}[36m"))
        let lines = outcome.output.split { $0.isNewline }.map { $0.replacing(/\u{1B}\[\d+m/, with: "") }
        XCTAssertTrue((81...101).contains(lines.map(\.count).max() ?? 0))
    }

    func testAReportHasTimesInNanosecondsTablesOf80ColumnsAndALimitThatIsChosen() throws {
        let file = try recording("many-observers")
        for option in [[], ["--by", "name"], ["--by", "observer"], ["--by", "thread"]] {
            let output = try run(["stats", file] + option).output
            XCTAssertTrue(output.contains("post to delivery"), output)
            XCTAssertTrue(output.split(separator: "\n").allSatisfy { $0.count <= 80 }, output)
        }
        let total = try XCTUnwrap(try object(["stats", "--json", file])["total"] as? [String: Any])
        XCTAssertEqual((total["postToDelivery"] as? [String: Any])?["count"] as? Int, 240)
        let events = try XCTUnwrap(try object(["trace", file])["traceEvents"] as? [[String: Any]])
        XCTAssertGreaterThanOrEqual(events.count { "\($0["cat"] ?? "") \($0["ph"] ?? "")" == "deliver B" }, 240)
        let flooded = try run(Self.diagnose + ["--depth", "1", file]).output
        XCTAssertTrue(flooded.contains("The limit is "))
        XCTAssertTrue(flooded.contains("; posted at Scenarios/ManyObserversScenario.swift:"), flooded)
    }

    func testEachFieldOfAReportIsDocumented() throws {
        var fields: Set<String> = []
        func add(_ value: Any) {
            if let values = value as? [Any] { values.forEach(add) }
            guard let object = value as? [String: Any] else { return }
            fields.formUnion(object.keys)
            object.values.forEach(add)
        }
        let flood = try recording("many-observers")
        let gone = Repository.root.appending(path: "Tests/Cases/gone-without-append.jsonl").path
        for command in [
            Self.diagnose + [gone], ["stats", flood], ["compare", flood, gone],
            ["check", gone, "--rule", "A not on main", "--rule", "no finding"],
        ] {
            add(try object(command + ["--json"]))
        }
        let article = Repository.root.appending(path: "Sources/notify-demo/notify-demo.docc/ContinuousIntegration.md")
        let text = try String(contentsOf: article, encoding: .utf8)
        XCTAssertEqual(fields.filter { !text.contains("`\($0)`") }, [])
    }

    func testASelectionThatTheRecordingDoesNotHaveIsAnErrorWithASuggestion() throws {
        let file = try recording("redirect")
        XCTAssertFalse(try run(["show", file, "--json"]).output.isEmpty)
        let named = try run(["show", file, "--name", "TestNotification", "--post", "1"]).output.split(separator: "\n")
        XCTAssertTrue(named.allSatisfy { $0.contains("TestNotification") && $0.contains("#1") })
        for (options, words) in [
            (["--name", "TestNotificaton"], "Did you mean \"TestNotification\"?"), (["--post", "77"], "#77"),
            (["--thread", "mian"], "mian"), (["--from", "60m"], ": has no records after 3600s. The last is at "),
        ] {
            for command in ["show", "timeline", "stats", "trace"] {
                let outcome = try run([command, file] + options)
                XCTAssertEqual(outcome.status, .error)
                XCTAssertTrue(outcome.output.contains(words), outcome.output)
            }
        }
    }
}
