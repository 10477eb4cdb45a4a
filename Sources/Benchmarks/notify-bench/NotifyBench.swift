import ArgumentParser
import DeliveryDiagnostics
import Foundation
import NotificationServer
import SystemPackage
import TerminalText

@main
struct NotifyBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notify-bench",
        abstract: "Measure what a notification costs, compared with other ways to call a thread.",
        discussion: """
            A workload is a task, and its contenders are ways to do it. One process measures them in turns: in each \
            round, each contender runs for about 60 ms. All contenders are warmed up first.

            The median is that of the rounds; the spread is the distance between their quartiles, as a percentage of \
            the median. The control is what the machine itself costs, written in C or without any queue; ×control and \
            ×best are the median divided by that of the control and by that of the best other contender. p50, p99 and \
            p99.9 cover all operations of all rounds. Compare ratios within a run rather than numbers of different runs.

            Where the spread of a control is more than a fifth, the machine is too noisy.

            With --compare, a row is slower or faster if its ratio to the earlier figure is beyond the noise of both \
            runs (their spreads together, at least 5 %), and still is when it is divided by the ratio of the control.

            EXAMPLES
              notify-bench
              taskset -c 0 notify-bench burst round-trip
              notify-bench same-thread-1 --rounds 31
              notify-bench --quick
              notify-bench --json > before.json
              notify-bench --compare before.json
              notify-bench --json | jq '.workloads[] | {name, best}'

            EXIT STATUS
              0 success, 1 a contender did not handle everything that was posted, or not in time, or became slower \
            than in the file of --compare, 2 the file cannot be read or the output written, 64 usage error
            """)

    @Argument(
        help: """
            The workloads to measure; all by default. A family of workloads can be named without its number: burst is \
            burst-1, burst-2 and so on.
            """, completion: .list(Workloads.names))
    var workloads: [String] = []

    @Flag(help: "List the workloads, and measure nothing.")
    var list = false

    @Flag(help: "Run fewer operations and rounds: a check that the benchmarks work, not a measurement.")
    var quick = false

    @Option(help: ArgumentHelp("The number of rounds, 1 to 1000 (default 7, with --quick 3).", valueName: "n"))
    var rounds: Int?

    @Flag(help: "Print one JSON object; times are in nanoseconds.")
    var json = false

    @Option(
        help: ArgumentHelp(
            """
            Compare with an earlier run, from a file that --json wrote, and print the ratios. Without workloads, \
            measure those of the file.
            """, valueName: "file"),
        completion: .file())
    var compare: String?

    static func main() {
        // A distributed workload may start this program as the server.
        NotificationServer.runIfAsked()
        main(nil)
    }

    func validate() throws {
        for name in workloads where Workloads.named(name).isEmpty {
            let nearest = Suggestion.nearest(to: name, among: Workloads.names)
            throw ValidationError(
                "there is no workload \"\(name)\". \(nearest.map { "Did you mean \"\($0)\"? " } ?? "")"
                    + "'notify-bench --list' lists them.")
        }
        if let rounds, !(1...1000).contains(rounds) {
            throw ValidationError("--rounds is \(rounds), and must be from 1 to 1000.")
        }
        if list, quick || json || rounds != nil || compare != nil {
            throw ValidationError("--list measures nothing: it takes workloads only.")
        }
    }

    func run() throws {
        do {
            if list {
                try print(Table.text(chosen().map { [$0.name, $0.summary] }))
            } else {
                try measure()
            }
        } catch let code as ExitCode {
            throw code
        } catch {
            Self.warn("\(error)")
            if case BenchmarkError.noReport = error { throw ExitCode(64) }
            throw ExitCode(2)
        }
    }

    private func measure() throws {
        var earlier = try compare.map(BenchmarkReport.init(contentsOf:))
        let chosen = chosen(earlier)
        guard !chosen.isEmpty else {
            throw BenchmarkError.noReport(compare ?? "", "it has no workload of this program")
        }
        if !workloads.isEmpty { earlier?.workloads.removeAll { old in !chosen.contains { $0.name == old.name } } }
        let progress = ProgressLine("notify-bench")
        defer { progress.clear() }
        var conditions = BenchmarkConditions()
        conditions.isQuick = quick
        let run = BenchmarkRun(conditions: conditions, rounds: rounds)
        let report = BenchmarkReport.measuring(chosen, in: run) { progress.show($0) }
        progress.clear()
        let comparison = earlier.map { BenchmarkComparison(of: report, with: $0) }
        if let comparison {
            try print(json ? JSONText.of(comparison) : comparison.text(width: TerminalWidth.current))
            for difference in comparison.differences { Self.warn("the runs differ. \(difference)") }
        } else {
            try print(json ? JSONText.of(report) : report.text(width: TerminalWidth.current))
        }
        for problem in report.problems { Self.warn(problem) }
        if report.machine.build == "debug" {
            Self.warn("this is a debug build: a release build is many times as fast.")
        }
        if !report.problems.isEmpty || comparison?.hasSlower == true { throw ExitCode(1) }
    }

    /// The workloads to measure, in the order of the arguments, without duplicates. Without arguments, those of the
    /// earlier run.
    private func chosen(_ earlier: BenchmarkReport? = nil) -> [Workload] {
        if workloads.isEmpty {
            return Workloads.all.filter { one in earlier?.workloads.contains { $0.name == one.name } ?? true }
        }
        var names: Set<String> = []
        return workloads.flatMap(Workloads.named).filter { names.insert($0.name).inserted }
    }

    private func print(_ text: String) throws {
        do {
            try FileDescriptor.standardOutput.writeAll(Array("\(text)\n".utf8))
        } catch {
            Self.warn("cannot write to standard output: \(error). The output is incomplete.")
            throw ExitCode(2)
        }
    }

    private static func warn(_ text: String) {
        // Standard error may be closed; then nothing more can be reported.
        _ = try? FileDescriptor.standardError.writeAll(Array("notify-bench: \(text)\n".utf8))
    }
}
