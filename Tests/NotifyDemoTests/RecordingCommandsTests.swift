import DeliveryDiagnostics
import Foundation
import Scenarios
import Subprocess
import Testing

/// Runs `audit` and `diagnose` on recordings as a user does.
@Suite("audit and diagnose")
struct RecordingCommandsTests {
    private struct Audited: Decodable {
        struct Line: Decodable {
            var notification: String?
            var posted: Int
            var delivered: Int
            var dropped: Int
        }

        var addsUp: Bool
        var isCut: Bool
        var notifications: [Line]
        var faultCount: Int
        var notKnownCount: Int
    }

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

    /// Runs shell lines in which `$F` is the recording of a scenario.
    private func shell(_ line: String, recording scenario: String, input: String = "") async throws -> Shell.Outcome {
        let file = "/dev/shm/notify-demo-\(UUID().uuidString).jsonl"
        return try await Shell.run(
            "F='\(file)'; trap 'rm -f \"$F\"' EXIT; notify-demo run \(scenario) -o \"$F\" >/dev/null 2>&1; \(line)",
            input: input)
    }

    private func json<Value: Decodable>(_ outcome: Shell.Outcome) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(outcome.output.utf8))
    }

    /// Diagnoses without the limits on time, because a busy machine may delay a thread.
    private static let diagnose = "notify-demo diagnose --main-budget 60m --stall 60m"

    /// The deliberate problems of some scenarios. The other scenarios have none.
    private static let expected: [String: Set<String>] = [
        "flood": ["flood"], "deadlock-cycle": ["refusedWait"], "overflow": ["dropped"], "thread-exit": ["targetGone"],
        "suspension": ["flood"],
    ]

    @Test(
        "each scenario's outcomes add up, and its recording has the expected findings", arguments: ScenarioCatalog.all)
    func scenarios(scenario: any Scenario) async throws {
        let options = scenario.name == "flood" ? " --drop-signals 1" : ""
        let outcome = try await shell(
            "notify-demo audit --json \"$F\" && \(Self.diagnose) --json \"$F\"; true",
            recording: scenario.name + options)
        let lines = outcome.output.split(separator: "\n")
        try #require(lines.count == 2, "\(outcome.output)\(outcome.errors)")
        let audited = try JSONDecoder().decode(Audited.self, from: Data(lines[0].utf8))
        #expect(audited.addsUp)
        #expect(!audited.isCut)
        #expect(audited.faultCount == 0)
        #expect(audited.notKnownCount == 0)
        let diagnosed = try JSONDecoder().decode(Diagnosed.self, from: Data(lines[1].utf8))
        let found = Set(diagnosed.findings.map(\.kind))
        #expect(found == Self.expected[scenario.name] ?? [], "\(lines[1])")
    }

    @Test("audit prints the outcomes of each name and observer")
    func outcomes() async throws {
        let text = try await shell("notify-demo audit \"$F\"", recording: "overflow")
        #expect(text.status == .exited(0))
        #expect(text.output.hasPrefix("posted  delivered  coalesced  dropped  name and observer\n"))
        #expect(text.output.hasSuffix("\nno faults\n"))
        let audited: Audited = try json(try await shell("notify-demo audit --json - < \"$F\"", recording: "overflow"))
        #expect(audited.notifications.map(\.posted) == [8, 8, 8, 8, 8, 8])
        #expect(audited.notifications.contains { $0.dropped == 5 })
    }

    @Test("outcomes that do not add up are status 1, also for diagnose, with file and line")
    func broken() async throws {
        let breaks = "sed -i '0,/\"stage\":\"deliver\"/s//\"stage\":\"log\"/' \"$F\"; "
        let audit = try await shell(breaks + "notify-demo audit \"$F\"", recording: "removal")
        #expect(audit.status == .exited(1))
        #expect(audit.output.contains("\n3 faults:\n"))
        #expect(audit.output.contains("a handler returned, but its call was not recorded: return on worker"))
        let diagnose = try await shell(breaks + "\(Self.diagnose) \"$F\"", recording: "removal")
        #expect(diagnose.status == .exited(1))
        #expect(diagnose.output.hasPrefix("problem: Lost once: #1 of TestNotification, posted by main at "))
    }

    @Test("the missing part of a truncated recording is not a fault, and the status is 0")
    func truncated() async throws {
        let line = "head -n 30 \"$F\" | head -c -20 > \"$F.cut\"; mv \"$F.cut\" \"$F\"; "
        let audit = try await shell(line + "notify-demo audit \"$F\"", recording: "removal")
        #expect(audit.status == .exited(0))
        #expect(audit.output.contains("the recording is truncated"))
        #expect(audit.errors.contains(":30: "))
        let diagnose = try await shell(line + "\(Self.diagnose) --json \"$F\"", recording: "removal")
        #expect(diagnose.status == .exited(0))
        let diagnosed: Diagnosed = try json(diagnose)
        #expect(diagnosed.findings.contains { $0.kind == "recordingCut" && $0.severity == "note" })
        #expect(!diagnosed.hasProblem)
    }

    @Test("a comparison of a truncated recording with the complete one is undecided, and the status is 2")
    func compareTruncated() async throws {
        let line = "head -n 30 \"$F\" | head -c -20 > \"$F.cut\"; trap 'rm \"$F.cut\"' EXIT; "
        let words = try await shell(line + "notify-demo compare \"$F\" \"$F.cut\"", recording: "removal")
        #expect(words.status == .exited(2))
        #expect(words.output.hasPrefix("the comparison is undecided\n"))
        #expect(words.output.contains("\nThe runs are the same up to where "), "\(words.output)")
        let told = try await shell(line + "notify-demo compare --json \"$F.cut\" \"$F\"", recording: "removal")
        #expect(told.status == .exited(2))
        #expect(told.output.contains(#""outcome":"undecided","reason":"cut""#), "\(told.output)")
    }

    @Test("evidence has the line of the file and the source locations")
    func evidence() async throws {
        let outcome = try await shell("\(Self.diagnose) --json \"$F\"", recording: "thread-exit")
        #expect(outcome.status == .exited(1))
        let diagnosed: Diagnosed = try json(outcome)
        let evidence = try #require(diagnosed.findings.first?.evidence)
        #expect(evidence.count == 3)
        #expect(evidence.allSatisfy { $0.text.contains(".jsonl:\($0.line) ") })
        #expect(evidence.last?.text.contains("; posted at Scenarios/ThreadExitScenario.swift:") == true)
        #expect(evidence.last?.text.contains("; observed at Scenarios/ThreadExitScenario.swift:") == true)
    }

    @Test("limits can be chosen")
    func limits() async throws {
        let none = try await shell("\(Self.diagnose) \"$F\"", recording: "many-observers --notifications 10")
        #expect(none.output == "no findings\n", "\(none.output)")
        let few = try await shell(
            "\(Self.diagnose) --depth 1 \"$F\"", recording: "many-observers --notifications 10")
        #expect(few.status == .exited(1))
        #expect(few.output.contains("The limit is "))
    }

    @Test(
        "a usage error is 64, and a recording that cannot be read is 2",
        arguments: [
            ("audit", 64, "Missing expected argument '<recording>'"), ("diagnose --depth 0 a", 64, "1 or more"),
            ("diagnose --main-budget 16 a", 64, "main-budget"), ("diagnose --stall -1s a", 64, "stall"),
            ("audit /nonexistent", 2, "notify-demo: /nonexistent: cannot be opened: No such file or directory.\n"),
            ("diagnose /nonexistent", 2, "notify-demo: /nonexistent: cannot be opened: No such file or directory.\n"),
        ])
    func failure(arguments: String, status: Int32, message: String) async throws {
        let outcome = try await Shell.run("notify-demo \(arguments)")
        #expect(outcome.status == .exited(status))
        #expect(outcome.output == "")
        #expect(outcome.errors.contains(message), "\(outcome.errors)")
    }

    @Test("help has examples", arguments: ["audit", "diagnose"])
    func help(subcommand: String) async throws {
        let outcome = try await Shell.run("notify-demo \(subcommand) --help")
        #expect(outcome.output.contains("EXAMPLES"))
        #expect(outcome.output.contains("EXIT STATUS"))
    }
}
