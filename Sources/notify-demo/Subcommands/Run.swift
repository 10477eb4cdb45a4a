import ArgumentParser
import DeliveryDiagnostics
import DistributedNotifications
import Foundation
import Scenarios
import SystemPackage
import TerminalText

extension ObserverCapture: ExpressibleByArgument {}

extension ScenarioCatalog {
    static let completion = CompletionKind.list(all.map(\.name))

    /// - Throws: `ValidationError` if there is no scenario with this name.
    static func scenario(_ name: String) throws -> any Scenario {
        if let scenario = named(name) { return scenario }
        let nearest = Suggestion.nearest(to: name, among: all.map(\.name))
        throw ValidationError(
            "there is no scenario \"\(name)\". \(nearest.map { "Did you mean \"\($0)\"? " } ?? "")"
                + "'notify-demo list' lists all.")
    }
}

struct Run: Command {
    static let configuration = CommandConfiguration(
        abstract: "Run a scenario, print its records, and check its expectations.",
        discussion: """
            Records go to standard output, results of the checks to standard error.

            EXAMPLES
              notify-demo run redirect
              notify-demo run flood --posters 8 --drop-signals 0.99 --seed 7
              notify-demo run observer-lifetime --capture weak
              notify-demo run many-observers -o run.jsonl
            """)

    @Argument(
        help: "The scenario; 'notify-demo list' lists all.", completion: ScenarioCatalog.completion,
        transform: ScenarioCatalog.scenario)
    var name: any Scenario

    @Option(
        help: ArgumentHelp(
            "The number of posting threads (flood, many-observers; 1 to 256, default 4).", valueName: "n"))
    var posters: Int?

    @Option(
        help: ArgumentHelp(
            """
            The number of notifications posted by all threads together, 1 to 1000000 (flood, default 10000; \
            held-message, default 3; many-observers, at most 50000, default 100).
            """, valueName: "n"))
    var notifications: Int?

    @Option(
        help: ArgumentHelp(
            "The probability with which a signal is lost (flood; 0 to 1, default 0.9).", valueName: "p"))
    var dropSignals: Double?

    @Option(help: ArgumentHelp("The seed that decides which signals are lost (flood; default 1).", valueName: "n"))
    var seed: UInt64?

    @Option(
        help: ArgumentHelp(
            "How the handler holds the observer (observer-lifetime; default: each way in turn).", valueName: "how"))
    var capture: ObserverCapture?

    @Flag(help: "Print all records as JSON, one per line.")
    var json = false

    @Option(
        name: .shortAndLong,
        help: """
            Also record to this file, for check, diagnose, compare, timeline, trace and stats; - is standard \
            output, on which nothing else is printed then.
            """, completion: .file(extensions: ["jsonl"]))
    var output: String?

    @Option(help: ColorChoice.help)
    var color = ColorChoice.auto

    private var options: ScenarioOptions {
        var options = ScenarioOptions(notifications: notifications, capture: capture)
        options.posters = posters ?? options.posters
        options.dropSignals = dropSignals ?? options.dropSignals
        options.seed = seed ?? options.seed
        return options
    }

    func validate() throws {
        let given: [(ScenarioOptions.Name, Any?)] = [
            (.posters, posters), (.notifications, notifications), (.dropSignals, dropSignals), (.seed, seed),
            (.capture, capture),
        ]
        for (option, value) in given where value != nil && !name.options.contains(option) {
            throw ValidationError(
                "the scenario \"\(name.name)\" takes no --\(option.rawValue). 'notify-demo list' lists the options.")
        }
        try ValidationError.check { try name.validate(options) }
    }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        let run = try ScenarioRun.perform(
            name, options: options, needsRecords: json || output != nil, terminal)
        let printsRecords = json || output.map(Output.isStandardOutput) ?? false
        let file = output.flatMap { Output.isStandardOutput($0) ? nil : $0 }
        for path in [file, printsRecords ? "-" : nil].compactMap(\.self) {
            let output = try terminal.output(to: path)
            try run.recorded.file?.seek(toOffset: 0)
            while let lines = try run.recorded.file?.read(upToCount: 1 << 16), !lines.isEmpty {
                try output.write(Array(lines))
            }
            try output.finish()
        }
        if !printsRecords {
            try terminal.print(DocumentStyle().lines(of: run.recorded.recording))
            if let report = name.report(on: run.recorded) {
                try terminal.print(report.split(separator: "\n").map { "# \($0)" })
            }
            try terminal.standardOutput.flush()
        }
        for expectation in run.expectations { terminal.say(shown: terminal.messagePalette.line(of: expectation)) }
        return run.expectations.allSatisfy(\.holds) ? .success : .failed
    }
}

/// The child process of `run observer-lifetime`, which may crash.
struct LifetimeChild: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: LifetimeProgram.subcommand, shouldDisplay: false)

    @Argument var capture: ObserverCapture
    /// Of the file to record to.
    @Argument var path: String

    func run() throws {
        // A child process that may crash leaves no core dump.
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        try LifetimeProgram(capture, timeout: .seconds(10)).perform(recordingTo: path)
    }
}

/// The second process of a distributed scenario. It obeys commands on standard input until that ends.
struct DistributedChild: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: DistributedProgram.subcommand, shouldDisplay: false)

    @Argument var directory: String
    /// Of the file to record to.
    @Argument var path: String

    func run() throws {
        try DistributedProgram.perform(
            at: ServerDirectory(path: directory), recordingTo: path, timeout: .seconds(20), readLine: { readLine() },
            write: { _ = try FileDescriptor.standardOutput.writeAll(Array($0.utf8)) })
    }
}
