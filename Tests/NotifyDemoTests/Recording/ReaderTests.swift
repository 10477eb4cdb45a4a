import DeliveryDiagnostics
import Foundation
import Scenarios
import SharedTesting
import Testing

/// Runs the commands that read a recording, as a user does.
@Suite("show, audit, diagnose, stats, timeline and trace")
struct ReaderTests {
    private struct Audited: Decodable {
        struct Line: Decodable {
            var notification: String?
            var matched: Int
            var dropped: Int
        }

        var addsUp: Bool
        var notifications: [Line]
        var faultCount: Int
        var unknownCount: Int
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

    /// Runs shell lines in a directory of their own, with the recordings in `$R`, of which `notifications.jsonl` is
    /// one.
    private func shell(_ lines: String, of scenario: String = "redirect") throws -> Shell.Outcome {
        try Shell.run(
            """
            R=\(try Self.recordings.get()); cd "$(mktemp -d)"; trap 'rm -r "$PWD"' EXIT
            cp $R/\(scenario).jsonl notifications.jsonl; d() { notify-demo diagnose --main-budget 60m --stall 60m "$@"; }
            \(lines)
            """)
    }

    private func json<Value: Decodable>(_ text: some StringProtocol) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(text.utf8))
    }

    /// The deliberate problems of some scenarios. The other scenarios have none.
    private static let expected: [String: Set<String>] = [
        "flood": ["flood"], "deadlock-cycle": ["refusedWait"], "overflow": ["dropped", "waitTimedOut"],
        "thread-exit": ["targetGone"], "removal": ["removedBeforePost"],
        "suspension": ["flood"],
    ]

    @Test("each scenario's outcomes add up, its recording has the expected findings, and it is drawn")
    func scenarios() async throws {
        for scenario in ScenarioCatalog.all.map(\.name) {
            // A busy machine may delay a thread, so there are no limits on time.
            let outcome = try shell(
                """
                notify-demo audit --json && d --json; notify-demo timeline --ascii --limit 0 | grep -c main
                notify-demo timeline --svg | tail -n 1
                """, of: scenario)
            let lines = outcome.output.split(separator: "\n")
            try #require(lines.count == 4, "\(scenario): \(outcome.output)\(outcome.errors)")
            let audited: Audited = try json(lines[0])
            #expect(audited.addsUp && audited.faultCount == 0 && audited.unknownCount == 0, "\(scenario): \(lines[0])")
            let diagnosed: Diagnosed = try json(lines[1])
            let problems = diagnosed.findings.filter { $0.severity == "problem" || Self.expected[scenario] == nil }
            #expect(
                Set(problems.map(\.kind)).subtracting(Self.expected[scenario] ?? []) == [], "\(scenario): \(lines[1])")
            #expect(Self.expected[scenario]?.isSubset(of: diagnosed.findings.map(\.kind)) != false, "\(lines[1])")
            #expect(lines[3].hasSuffix("</svg>"), "\(scenario)")
        }
    }

    @Test("a command without a recording reads notifications.jsonl, or says how to make it")
    func defaultFile() async throws {
        let outcome = try shell(
            """
            for c in show audit stats timeline trace; do notify-demo $c > a && notify-demo $c notifications.jsonl | cmp - a; done
            rm notifications.jsonl; notify-demo audit; echo $?
            """)
        #expect(outcome.output == "2\n")
        #expect(
            outcome.errors
                == "notify-demo: there is no notifications.jsonl here. Name a recording, or record a program first: "
                + "notify-demo record -- ./my-program\n")
    }

    @Test("audit prints the outcomes, and stats has its tables in 80 columns")
    func tables() async throws {
        let outcome = try shell("notify-demo audit --json; notify-demo audit | tail -n 1", of: "overflow")
        let lines = outcome.output.split(separator: "\n")
        let audited: Audited = try json(lines[0])
        #expect(audited.notifications.contains { $0.dropped == 5 && $0.matched == 8 })
        #expect(lines[1] == "no faults")
        for option in ["", "--by name", "--by observer", "--by thread"] {
            let outcome = try shell("notify-demo stats \(option)", of: "many-observers")
            #expect(outcome.errors == "")
            #expect(outcome.output.contains("post to delivery "))
            #expect(outcome.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
        }
    }

    @Test("lost deliveries are status 1 for audit and diagnose, and a truncated recording is not a fault")
    func broken() async throws {
        let outcome = try shell(
            """
            sed '0,/"stage":"deliver"/s//"stage":"log"/' notifications.jsonl > a; notify-demo audit a; echo "status $?"
            d a | head -n 1; echo "status ${PIPESTATUS[0]}"
            head -n 30 notifications.jsonl | head -c -20 > b; notify-demo audit b 2>&1; echo "status $?"
            d --json b 2>&-; echo "status $?"; d --strict b > c 2>&1; echo "status $?"
            """, of: "removal")
        let parts = outcome.output.components(separatedBy: "status ")
        try #require(parts.count == 6, "\(outcome.output)")
        #expect(parts[0].contains("a handler returned, but its call was not recorded: return on worker"))
        #expect(parts[1].hasPrefix("1\nproblem: Not accounted for, once: #1 of TestNotification, posted by main at "), "\(parts[1])")
        #expect(parts[2].hasPrefix("1\n") && parts[2].contains("the recording is truncated"), "\(parts[2])")
        #expect(parts[2].contains("b:30: "))
        #expect(parts[3].hasPrefix("0\n") && parts[3].contains("\"severity\":\"note\""))
        #expect(parts[4].hasPrefix("0"))
        #expect(parts[5] == "1\n")
    }

    @Test("evidence has the line of the file and the source locations, and limits can be chosen")
    func evidence() async throws {
        let outcome = try shell(
            "d --json; d --depth 1 $R/many-observers.jsonl | grep -c 'The limit is '; d $R/redirect.jsonl",
            of: "thread-exit")
        let lines = outcome.output.split(separator: "\n")
        let diagnosed: Diagnosed = try json(lines[0])
        let evidence = try #require(diagnosed.findings.first?.evidence)
        #expect(evidence.allSatisfy { $0.text.contains(".jsonl:\($0.line) ") })
        #expect(evidence.last?.text.contains("; posted at Scenarios/ThreadExitScenario.swift:") == true)
        #expect(lines[1] != "0")
        #expect(lines[2] == "no findings", "\(lines[2])")
    }

    @Test("findings of an accepted kind do not fail, and the report ends with totals and the next command")
    func accepted() async throws {
        let outcome = try shell(
            """
            d; echo "status $?"; echo '# known' > accepted; d --json | grep -o '"kind":"[A-Za-z]*"' | cut -d'"' -f4 >> accepted
            d --accept accepted; echo "status $?"
            """, of: "thread-exit")
        let parts = outcome.output.components(separatedBy: "status ")
        try #require(parts.count == 3, "\(outcome.output)\(outcome.errors)")
        #expect(parts[0].contains("\nNext: notify-demo timeline --name TestNotification\n"), "\(parts[0])")
        #expect(parts[1].hasPrefix("1\n"))
        #expect(parts[2] == "0\n", "\(outcome.output)")
    }

    @Test("a comparison of a truncated recording with the complete one is undecided, and differences are JSON too")
    func compare() async throws {
        let outcome = try shell(
            """
            head -n 30 notifications.jsonl | head -c -20 > a; notify-demo compare notifications.jsonl a 2>&-; echo "status $?"
            notify-demo compare --json $R/redirect.jsonl $R/posting-thread.jsonl; echo "status $?"
            notify-demo compare $R/flood.jsonl - < $R/flood.jsonl; echo "status $?"
            notify-demo compare /nonexistent a; echo "status $?"
            """, of: "removal")
        let parts = outcome.output.components(separatedBy: "status ")
        try #require(parts.count == 5, "\(outcome.output)")
        #expect(parts[1].hasPrefix("2\n") && parts[1].contains("\"outcome\":\"different\""), "\(outcome.output)")
        #expect(parts[2].hasPrefix("1\nthe same: "), "\(parts[2])")
        #expect(parts[3] == "0\n" && parts[4] == "2\n")
        #expect(outcome.errors.contains("/nonexistent: cannot be opened: No such file or directory."))
    }

    @Test("stats --json has times in nanoseconds, and a trace is one JSON object")
    func json() async throws {
        let outcome = try shell("notify-demo stats --json; notify-demo trace", of: "many-observers")
        let end = try #require(outcome.output.firstIndex(of: "\n"))
        let object = { (text: Substring) in
            try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        }
        let total = try #require(try object(outcome.output[..<end])["total"] as? [String: Any])
        let times = try #require(total["postToDelivery"] as? [String: Any])
        let percentiles = try ["p50", "p90", "p99", "p999", "max"].map { try #require(times[$0] as? Int) }
        #expect(percentiles == percentiles.sorted())
        #expect(times["count"] as? Int == 1200)
        let events = try #require(try object(outcome.output[end...])["traceEvents"] as? [[String: Any]])
        #expect(events.count { $0["cat"] as? String == "deliver" && $0["ph"] as? String == "B" } >= 1200)
    }

    @Test("show and timeline select by name, thread, time and post, and suggest a name that is recorded")
    func filters() async throws {
        let outcome = try shell(
            """
            notify-demo show --json | wc -l; notify-demo show --name TestNotification | grep -vc TestNotification
            notify-demo show --post 1 | grep -c '#1'; notify-demo show --from 1h --json | wc -l
            for o in "--name TestNotificaton" "--post 77" "--thread mian"; do
                notify-demo timeline $o; echo $?; notify-demo show $o 2>&-; echo $?
            done
            """)
        let lines = outcome.output.split(separator: "\n").map(String.init)
        try #require(lines.count == 10, "\(outcome.output)\(outcome.errors)")
        #expect(lines[0] != "0" && lines[1] == "0" && lines[2] != "0" && lines[3] == "0", "\(lines)")
        #expect(lines[4...] == ["2", "2", "2", "2", "2", "2"])
        #expect(outcome.errors.contains("Did you mean \"TestNotification\"?"))
        #expect(outcome.errors.contains("#77"))
    }

    @Test("a terminal gets its own columns and a colour for each thread")
    func terminal() async throws {
        let drawn = try shell(
            "TERM=xterm script -qec 'stty cols 101; notify-demo timeline --limit 0' /dev/null; notify-demo timeline",
            of: "many-observers")
        #expect(drawn.output.contains("\u{1B}[36m"))
        let lines = drawn.output.split { $0.isNewline }.map { $0.replacing(/\u{1B}\[\d+m/, with: "") }
        #expect((81...101).contains(lines.map(\.count).max() ?? 0))
    }
}
