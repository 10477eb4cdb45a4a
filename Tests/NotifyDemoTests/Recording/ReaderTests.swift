import ArgumentParser
import ChildProcesses
import DeliveryDiagnostics
import Foundation
import Scenarios
import SharedTesting
import TerminalText
import XCTest

@testable import notify_demo

/// The commands that read a recording.
final class ReaderTests: XCTestCase {
    private struct Diagnosed: Decodable {
        struct Finding: Decodable {
            struct Evidence: Decodable {
                var line: Int
                var text: String
            }

            var kind: String
            var severity: String
            var evidence: [Evidence]
        }

        var hasProblem: Bool
        var findings: [Finding]
    }

    /// A directory with a recording of each scenario, which is made once.
    private static let recordings = Result {
        let directory = "/dev/shm/notify-demo-\(getpid())"
        atexit { _ = try? FileManager.default.removeItem(atPath: "/dev/shm/notify-demo-\(getpid())") }
        let flood = "flood --drop-signals 1 --notifications 2000"
        let scenarios = ScenarioCatalog.all.map { $0.name == "flood" ? flood : $0.name }
        let commands = scenarios.map { scenario in
            "notify-demo run \(scenario) -o \(directory)/\(scenario.prefix { $0 != " " }).jsonl &>/dev/null &"
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
        let terminal = try Terminal(command: "test", color: .never, output: file.path)
        // Parsing it as a subcommand of `NotifyDemo` takes longer.
        let subcommands = NotifyDemo.configuration.groupedSubcommands.flatMap(\.subcommands)
        let subcommand = try XCTUnwrap(subcommands.first { $0._commandName == arguments[0] })
        let command = try XCTUnwrap(subcommand.parse(Array(arguments.dropFirst())) as? any Command)
        let status: ExitStatus
        do {
            status = try command.perform(terminal)
            try terminal.standardOutput.finish()
        } catch { return (.error, "\(error)") }
        return (status, try String(contentsOf: file, encoding: .utf8))
    }

    /// Runs shell lines in a directory of their own, with the recordings in `$R`, of which `notifications.jsonl` is
    /// one.
    private func shell(_ lines: String, of scenario: String = "redirect") throws -> Shell.Outcome {
        try Shell.run(
            """
            R=\(try Self.recordings.get()); cd "$(mktemp -d)"; trap 'rm -r "$PWD"' EXIT
            cp $R/\(scenario).jsonl notifications.jsonl
            d() { notify-demo \(Self.diagnose.joined(separator: " ")) "$@"; }
            \(lines)
            """)
    }

    private func json<Value: Decodable>(_ text: some StringProtocol) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(text.utf8))
    }

    /// A recording with a problem: an observer's thread has ended.
    private static let gone = Repository.root.appending(path: "Tests/Cases/gone-without-append.jsonl").path

    /// The deliberate problems of some scenarios. The other scenarios have none.
    private static let expected: [String: Set<String>] = ["flood": ["flood"]]

    func testEachScenariosOutcomesAddUpItsRecordingHasTheExpectedFindingsAndItIsDrawn() throws {
        for scenario in ScenarioCatalog.all.map(\.name) {
            let file = try recording(scenario)
            let diagnosis = try run(Self.diagnose + ["--json", file]).output
            let diagnosed: Diagnosed = try json(diagnosis)
            let problems = diagnosed.findings.filter { $0.severity == "problem" || Self.expected[scenario] == nil }
            let expected = Self.expected[scenario] ?? []
            XCTAssertEqual(Set(problems.map(\.kind)).subtracting(expected), [], "\(scenario): \(diagnosis)")
            XCTAssertTrue(expected.isSubset(of: diagnosed.findings.map(\.kind)), "\(scenario): \(diagnosis)")
            XCTAssertTrue(try run(["timeline", "--ascii", file]).output.contains("main"), scenario)
            XCTAssertTrue(try run(["timeline", "--svg", file]).output.hasSuffix("</svg>\n"), scenario)
        }
    }

    func testACommandWithoutARecordingReadsNotificationsJsonlOrSaysHowToMakeIt() throws {
        let outcome = try shell(
            """
            notify-demo stats > a && notify-demo stats notifications.jsonl | cmp - a
            rm notifications.jsonl; notify-demo stats; echo $?
            """)
        XCTAssertEqual(outcome.output, "2\n")
        XCTAssertEqual(
            outcome.errors,
            "notify-demo: there is no notifications.jsonl here. Name a recording, or record a program first: "
                + "notify-demo record -- ./my-program\n")
    }

    func testStatsHasItsTablesIn80Columns() throws {
        for option in [[], ["--by", "name"], ["--by", "observer"], ["--by", "thread"]] {
            let output = try run(["stats", recording("many-observers")] + option).output
            XCTAssertTrue(output.contains("post to delivery "), output)
            XCTAssertTrue(output.split(separator: "\n").allSatisfy { $0.count <= 80 }, output)
        }
    }

    func testALostDeliveryIsStatus1ForDiagnoseAndATruncatedRecordingIsNotAFault() throws {
        let outcome = try shell(
            """
            sed '0,/"stage":"deliver","name"/s//"stage":"log","name"/' notifications.jsonl > a
            d a | grep -o 'Not accounted for, once: .*, lacks a record: a handler returned'; echo "${PIPESTATUS[0]}"
            head -n 30 notifications.jsonl | head -c -20 > b; notify-demo stats b 2>&1 > /dev/null | grep -oE 'b:30: |is incomplete'
            d --json b 2>&- | grep -c '"severity":"note"'; d --strict b > c 2>&1; echo "$?"
            """, of: "many-observers")
        let lines = outcome.output.split(separator: "\n")
        try require(lines.count == 6, outcome.output)
        XCTAssertTrue(lines[0].contains(" of TestNotification, posted by poster "), outcome.output)
        XCTAssertEqual(lines.dropFirst(), ["1", "b:30: ", "is incomplete", "1", "1"], outcome.output)
    }

    func testEvidenceHasTheLineOfTheFileAndTheSourceLocationsAndLimitsCanBeChosen() throws {
        let flooded = try recording("many-observers")
        let diagnosed: Diagnosed = try json(run(Self.diagnose + ["--depth", "1", "--json", flooded]).output)
        let evidence = try XCTUnwrap(diagnosed.findings.first?.evidence)
        XCTAssertTrue(evidence.allSatisfy { $0.text.contains(".jsonl:\($0.line) ") })
        let last = evidence.last?.text ?? ""
        XCTAssertTrue(last.contains("; posted at Scenarios/ManyObserversScenario.swift:"), last)
        XCTAssertTrue(try run(Self.diagnose + ["--depth", "1", flooded]).output.contains("The limit is "))
        XCTAssertTrue(try run(Self.diagnose + [recording("redirect")]).output.hasPrefix("no findings\n"))
        for command in ["show", "timeline", "stats", "trace"] {
            let later = try run([command, recording("redirect"), "--from", "60m"])
            XCTAssertEqual(later.status, .error)
            XCTAssertTrue(later.output.contains(": has no records after 3600s. The last is at "), later.output)
        }
    }

    func testAComparisonOfATruncatedRecordingWithTheCompleteOneIsUndecidedAndDifferencesAreJSONToo() throws {
        let complete = try recording("many-observers")
        let truncated = complete + ".truncated"
        let lines = try String(contentsOfFile: complete, encoding: .utf8).split(separator: "\n")
        try Data(lines[..<30].joined(separator: "\n").dropLast(20).utf8).write(to: URL(filePath: truncated))
        XCTAssertEqual(try run(["compare", complete, truncated]).status, .error)
        let different = try run(["compare", "--json", recording("redirect"), recording("posting-thread")])
        XCTAssertEqual(different.status, .failed)
        XCTAssertTrue(different.output.contains("\"outcome\":\"different\""), different.output)
        let outcome = try shell("notify-demo compare notifications.jsonl - < notifications.jsonl")
        XCTAssertEqual(outcome.end, .exit(0))
        XCTAssertTrue(outcome.output.hasPrefix("the same: "), outcome.output)
        let missing = try run(["compare", "/nonexistent", complete])
        XCTAssertEqual(missing.status, .error)
        XCTAssertEqual(missing.output, "/nonexistent: cannot be opened: No such file or directory.")
    }

    func testTheJSONOfStatsHasTimesInNanosecondsAndATraceIsOneJSONObject() throws {
        func object(_ command: [String]) throws -> [String: Any] {
            let output = try run(command + [recording("many-observers")]).output
            return try XCTUnwrap(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
        }
        let total = try XCTUnwrap(try object(["stats", "--json"])["total"] as? [String: Any])
        let times = try XCTUnwrap(total["postToDelivery"] as? [String: Any])
        let percentiles = try ["p50", "p90", "p99", "p999", "max"].map { try XCTUnwrap(times[$0] as? Int) }
        XCTAssertEqual(percentiles, percentiles.sorted())
        XCTAssertEqual(times["count"] as? Int, 1200)
        let events = try XCTUnwrap(try object(["trace"])["traceEvents"] as? [[String: Any]])
        XCTAssertGreaterThanOrEqual(
            events.count { $0["cat"] as? String == "deliver" && $0["ph"] as? String == "B" }, 1200)
    }

    func testEachFieldOfAReportIsDocumented() throws {
        var fields: Set<String> = []
        func add(_ value: Any) {
            if let values = value as? [Any] { values.forEach(add) }
            guard let object = value as? [String: Any] else { return }
            fields.formUnion(object.keys)
            object.values.forEach(add)
        }
        let (flood, gone) = (try recording("many-observers"), Self.gone)
        for command in [
            Self.diagnose + [gone], ["stats", flood], ["compare", flood, gone],
            ["check", gone, "--rule", "A not on main", "--rule", "no finding"],
        ] {
            add(try JSONSerialization.jsonObject(with: Data(run(command + ["--json"]).output.utf8)))
        }
        let article = Repository.root.appending(path: "Sources/notify-demo/notify-demo.docc/ContinuousIntegration.md")
        let text = try String(contentsOf: article, encoding: .utf8)
        XCTAssertEqual(fields.filter { !text.contains("`\($0)`") }, [])
    }

    func testShowAndTimelineSelectByNameThreadTimeAndPostAndSuggestANameThatIsRecorded() throws {
        let file = try recording("redirect")
        func lines(_ options: String...) throws -> [Substring] {
            try run(["show", file] + options).output.split(separator: "\n")
        }
        XCTAssertFalse(try lines("--json").isEmpty)
        XCTAssertTrue(try lines("--name", "TestNotification").allSatisfy { $0.contains("TestNotification") })
        XCTAssertTrue(try lines("--post", "1").contains { $0.contains("#1") })
        for (options, words) in [
            (["--name", "TestNotificaton"], "Did you mean \"TestNotification\"?"), (["--post", "77"], "#77"),
            (["--thread", "mian"], "mian"),
        ] {
            for command in ["show", "timeline"] {
                let outcome = try run([command, file] + options)
                XCTAssertEqual(outcome.status, .error)
                XCTAssertTrue(outcome.output.contains(words), outcome.output)
            }
        }
    }

    func testATerminalGetsItsOwnColumnsAndAColorForEachThread() throws {
        let drawn = try shell(
            "TERM=xterm script -qec 'stty cols 101; notify-demo timeline --limit 0' /dev/null; notify-demo timeline",
            of: "many-observers")
        XCTAssertTrue(drawn.output.contains("\u{1B}[36m"))
        let lines = drawn.output.split { $0.isNewline }.map { $0.replacing(/\u{1B}\[\d+m/, with: "") }
        XCTAssertTrue((81...101).contains(lines.map(\.count).max() ?? 0))
    }
}
