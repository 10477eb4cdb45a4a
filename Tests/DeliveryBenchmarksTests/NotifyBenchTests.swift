import ChildProcesses
import DeliveryBenchmarks
import Foundation
import SharedTesting
import Testing

/// The output of `notify-bench`, apart from the measured values.
@Suite("notify-bench")
struct NotifyBenchTests {
    /// A core that the tests may run on.
    private static let core = ProcessorCores.available.first ?? 0

    private func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }

    @Test("--quick measures every contender of every workload, in JSON as one object")
    func quick() async throws {
        let outcome = try Shell.run("notify-bench --quick --json")
        #expect(outcome.end == .exit(0), "\(outcome.errors)")
        #expect(lines(outcome.output).count == 1)
        let report = try #require(
            try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
        #expect(report["rounds"] as? Int == 3)
        #expect(report["quick"] as? Bool == true)
        let workloads = try #require(report["workloads"] as? [[String: Any]])
        // The tests and the program may differ in whether they can count allocations.
        #expect(Set(Workloads.all.map(\.name)).isSuperset(of: workloads.compactMap { $0["name"] as? String }))
        for workload in workloads {
            for contender in try #require(workload["contenders"] as? [[String: Any]]) {
                let name = "\(workload["name"] ?? ""), \(contender["name"] ?? "")"
                #expect((contender["figures"] as? [Double])?.count == 3, "\(name)")
                #expect(contender["problem"] == nil, "\(name)")
            }
        }
    }

    @Test("the named workloads are measured once, in the order of the arguments; a family by its name")
    func chosen() async throws {
        let outcome = try Shell.run("notify-bench --quick round-trip same-thread-10 same-thread --json")
        #expect(outcome.end == .exit(0), "\(outcome.errors)")
        let report = try #require(
            try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
        let names = try #require(report["workloads"] as? [[String: Any]]).compactMap { $0["name"] as? String }
        let family = Workloads.named("same-thread").map(\.name).filter { $0 != "same-thread-10" }
        #expect(names == ["round-trip", "same-thread-10"] + family)
    }

    @Test("the text names the machine and fits the columns")
    func text() async throws {
        for columns in [80, 120] {
            let outcome = try Shell.run(
                "COLUMNS=\(columns) notify-bench --quick --rounds 2 same-thread-1 round-trip perform")
            #expect(outcome.output.contains("2 rounds, a quick look"))
            for line in lines(outcome.output) { #expect(line.count <= columns, "\(line)") }
        }
    }

    @Test("Markdown begins with the command that prints the same tables")
    func markdown() async throws {
        let outcome = try Shell.run(
            "notify-bench --markdown same-thread-1 --quick --rounds 2 --pin \(Self.core) --no-spin")
        #expect(outcome.end == .exit(0), "\(outcome.errors)")
        #expect(!outcome.output.contains("notify-bench:"), "messages go to standard error")
        let text = lines(outcome.output)
        #expect(
            text.first?.hasPrefix(
                "`notify-bench same-thread-1 --pin \(Self.core) --quick --rounds 2 --no-spin --markdown`: ")
                == true)
        #expect(text.first?.contains("; pinned to core \(Self.core); no spinning; ") == true)
        #expect(text.dropFirst().allSatisfy { $0.hasPrefix("| ") && $0.hasSuffix(" |") })
        let columns = Set(text.dropFirst().map { row in row.split(separator: "|").count })
        #expect(columns.count == 1)
    }

    @Test("with --pin, all threads run on the given cores")
    func pin() async throws {
        let outcome = try Shell.run("notify-bench burst-1 round-trip --quick --json --pin \(Self.core)")
        #expect(outcome.end == .exit(0), "\(outcome.errors)")
        #expect(outcome.output.contains("\"pin\":[\(Self.core)]"))
    }

    @Test("the list has each workload with its summary, and as JSON its contenders")
    func list() async throws {
        let text = try Shell.run("notify-bench --list")
        let json = try Shell.run("notify-bench --list --json same-thread round-trip")
        #expect(text.end == .exit(0) && json.end == .exit(0))
        for workload in Workloads.all {
            #expect(lines(text.output).contains { $0.hasPrefix("\(workload.name) ") && $0.hasSuffix(workload.summary) })
        }
        #expect(lines(json.output).count == Workloads.named("same-thread").count + 1)
        #expect(lines(json.output).last?.contains("\"ThreadedNotificationCenter\"") == true)
    }

    @Test("a full disk is an error, with a message")
    func fullDisk() async throws {
        let outcome = try Shell.run("notify-bench --quick same-thread-1 > /dev/full")
        #expect(outcome.end == .exit(2))
        #expect(outcome.errors.contains("cannot write to standard output: No space left on device"))
    }

    @Test(
        "a usage error names the argument and what to give instead",
        arguments: [
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
        ])
    func usageErrors(arguments: String, says: String) async throws {
        let outcome = try Shell.run("notify-bench \(arguments)")
        #expect(outcome.end == .exit(64))
        #expect(outcome.output == "")
        #expect(outcome.errors.contains(says), "\(outcome.errors)")
    }

    @Test("the help has examples and hides the observers' process, and completions offer workloads and options")
    func help() async throws {
        let help = try Shell.run("notify-bench --help")
        #expect(help.end == .exit(0))
        #expect(help.output.contains("EXAMPLES") && !help.output.contains(ObserversProgram.subcommand))
        let script = try Shell.run("notify-bench --generate-completion-script bash")
        #expect(script.end == .exit(0))
        #expect(script.output.contains("round-trip") && script.output.contains("--no-spin"))
    }
}
