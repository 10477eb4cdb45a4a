import ArgumentParser
import DeliveryDiagnostics

struct Bench: Command {
    static let name = "bench"
    static let configuration = CommandConfiguration(
        commandName: name,
        abstract: "Measure what a notification costs, beside what else could carry it.",
        discussion: """
            A workload is something to do, and its contenders are ways to do it. They are measured in turns, in one process: \
            in each round every contender has a turn of some 60 ms. Before that they are warmed up.

            The median is of the rounds, and the spread the distance of their quartiles as a part of it. The control is what \
            the machine itself charges, written in C or without any queue at all; ×control and ×best are medians divided by \
            the control's and by that of the best contender but the control. p50, p99 and p99.9 are of all operations of all \
            rounds. Figures of different runs tell little, the ratios of one run more.

            A machine that is too noisy to tell is named with the reason: time stolen by the machine below it, time taken by \
            other programs, and a control whose own rounds differ by more than a fifth.

            EXAMPLES
              notify-demo bench
              notify-demo bench burst round-trip --pin 0
              notify-demo bench same-thread-1 --rounds 31
              notify-demo bench --quick
              notify-demo bench --json > before.json
              notify-demo bench --json | jq '.workloads[] | {name, best}'

            EXIT STATUS
              0 measured, 1 a contender failed: not all that was posted was handled, or not in time, 2 it could not be \
            printed, 64 wrong arguments, such as a core that there is not
            """)

    @Argument(
        help: """
            Which workloads; none: all. Those that differ in a number can be named without it: burst is burst-1, burst-2 and \
            so on.
            """, completion: .list(Workloads.names))
    var workloads: [String] = []

    @Flag(help: "List the workloads, with --json their contenders too, and measure nothing.")
    var list = false

    @Option(
        help: ArgumentHelp(
            """
            Have all threads run on one core (0), or those that post on one and those that handle on another (0,1), as far as \
            a contender's threads are its own.
            """, valueName: "cores"))
    var pin: String?

    @Flag(help: "Fewer operations and rounds, in seconds: whether it runs, and not how fast.")
    var quick = false

    @Option(help: ArgumentHelp("How many rounds, 1 to 1000 (default 7, with --quick 3).", valueName: "n"))
    var rounds: Int?

    @Flag(help: "Print one JSON object, of --list one for each workload; times are in nanoseconds.")
    var json = false

    @Flag(help: "Print tables in Markdown.")
    var markdown = false

    @Flag(name: .customLong("no-spin"), help: "Have threads sleep at once, and not spin before.")
    var neverSpins = false

    func validate() throws {
        for name in workloads where Workloads.named(name).isEmpty {
            let nearest = Suggestion.nearest(to: name, among: Workloads.names)
            throw ValidationError(
                "there is no workload \"\(name)\". \(nearest.map { "Did you mean \"\($0)\"? " } ?? "")"
                    + "'notify-demo bench --list' tells what there is.")
        }
        if let rounds, !(1...1000).contains(rounds) {
            throw ValidationError("--rounds is \(rounds), and must be from 1 to 1000.")
        }
        if json, markdown {
            throw ValidationError("--json and --markdown are two ways to print the same. Leave out one of them.")
        }
        if list, markdown || quick || neverSpins || pin != nil || rounds != nil {
            throw ValidationError("--list measures nothing: it takes workloads and --json only.")
        }
        _ = try places
    }

    func perform(_ terminal: inout Terminal) throws -> ExitStatus {
        let chosen = chosen
        if list {
            try print(chosen, &terminal)
            return .success
        }
        let places = try places
        let progress = ProgressLine("bench")
        defer { progress.clear() }
        let report = try BenchmarkReport.measuring(
            chosen, in: BenchmarkRun(places: places, rounds: rounds, isQuick: quick)
        ) { progress.show($0) }
        progress.clear()
        if json {
            try terminal.print(JSONText.of(report))
        } else if markdown {
            try terminal.print(report.markdown(command: "notify-demo \(arguments)"))
        } else {
            try terminal.print(report.text(width: TerminalWidth.current))
        }
        try terminal.flush()
        for problem in report.problems { terminal.say("notify-demo: \(problem)") }
        for finding in report.noise { terminal.say("notify-demo: too noisy to tell: \(finding)") }
        if report.machine.build == "debug" {
            terminal.say("notify-demo: this is a debug build: a release build is many times as fast.")
        }
        return report.problems.isEmpty ? .success : .failed
    }

    /// In the order in which they were asked for, each once.
    private var chosen: [Workload] {
        guard !workloads.isEmpty else { return Workloads.all }
        var names: Set<String> = []
        return workloads.flatMap(Workloads.named).filter { names.insert($0.name).inserted }
    }

    private var places: BenchmarkPlaces {
        get throws {
            var places = BenchmarkPlaces(spins: !neverSpins, observersProgram: ObserversChild.program)
            guard let pin else { return places }
            let cores = pin.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
            guard (1...2).contains(cores.count), let first = cores[0], let last = cores[cores.count - 1] else {
                throw ValidationError("--pin is \"\(pin)\", and must be one core or two: 0 or 0,1.")
            }
            let available = ProcessorCores.available
            for core in [first, last] where !available.contains(core) {
                throw ValidationError(
                    "--pin names core \(core), and this program may run on \(available.map(String.init).joined(separator: ", "))."
                )
            }
            (places.postingCore, places.targetCore) = (first, last)
            return places
        }
    }

    /// The command line that measures the same, without what says how it is printed.
    private var arguments: String {
        var arguments = ["bench"] + workloads
        if let pin { arguments.append("--pin \(pin)") }
        if quick { arguments.append("--quick") }
        if let rounds { arguments.append("--rounds \(rounds)") }
        if neverSpins { arguments.append("--no-spin") }
        return (arguments + ["--markdown"]).joined(separator: " ")
    }

    private func print(_ workloads: [Workload], _ terminal: inout Terminal) throws {
        let width = workloads.map(\.name.count).max() ?? 0
        for workload in workloads {
            if json {
                try terminal.print(JSONText.of(Entry(workload)))
                continue
            }
            let padding = String(repeating: " ", count: width - workload.name.count)
            try terminal.print("\(workload.name)\(padding)  \(workload.summary)")
        }
    }

    private struct Entry: Encodable {
        var name: String
        var summary: String
        var unit: String
        var control: String?
        var contenders: [String]

        init(_ workload: Workload) {
            name = workload.name
            summary = workload.summary
            unit = workload.unit.description
            control = workload.control
            contenders = workload.contenders.map(\.name)
        }
    }
}
