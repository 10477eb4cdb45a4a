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
        if let scenario = all.first(where: { $0.name == name }) { return scenario }
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
            """)

    @Argument(
        help: "The scenario; 'notify-demo list' lists all.", completion: ScenarioCatalog.completion,
        transform: ScenarioCatalog.scenario)
    var name: any Scenario

    @Option(help: ArgumentHelp("The number of posting threads, 1 to 256 (flood).", valueName: "n"))
    var posters = ScenarioOptions().posters

    @Option(
        help: ArgumentHelp(
            "The number of notifications that all threads post (flood; default: 10000), or that are posted for each "
                + "fault (machines; default: 100000), 1 to 1000000.", valueName: "n"))
    var notifications: Int?

    @Option(help: ArgumentHelp("The probability with which a signal is lost, 0 to 1 (flood).", valueName: "p"))
    var dropSignals = ScenarioOptions().dropSignals

    @Option(help: ArgumentHelp("The seed that decides which signals are lost (flood).", valueName: "n"))
    var seed = ScenarioOptions().seed

    @Option(
        help: ArgumentHelp(
            "How the handler holds the observer (observer-lifetime; default: each way in turn).", valueName: "how"))
    var capture: ObserverCapture?

    @Flag(help: "Print all records as JSON, one per line.")
    var json = false

    @Option(
        name: .shortAndLong,
        help: """
            Also record to this file, for check, diagnose, compare, timeline, trace and stats; - is standard output, on \
            which nothing else is printed then.
            """, completion: .file(extensions: ["jsonl"]))
    var output: String?

    func validate() throws {
        try ValidationError.check("--posters", posters, from: 1, to: 256)
        try ValidationError.check("--notifications", notifications, from: 1, to: 1_000_000)
        try ValidationError.check("--drop-signals", dropSignals, from: 0, to: 1)
    }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        var options = ScenarioOptions()
        (options.posters, options.capture, options.dropSignals, options.seed) = (posters, capture, dropSignals, seed)
        if let notifications { options.notifications = notifications }
        options.bridgedPosts = notifications ?? 100_000
        let printsRecords = json || output.map(Output.isStandardOutput) ?? false
        let run = try ScenarioRun.perform(
            name, options: options, show: printsRecords ? nil : terminal.showsAtOnce, terminal)
        var outputs = try output.map { [try terminal.output(to: $0)] } ?? []
        if json, !outputs.contains(where: \.isStandardOutput) { outputs.append(terminal.standardOutput) }
        for output in outputs {
            try run.recorded.file?.seek(toOffset: 0)
            try run.recorded.file?.forEachLines(output.write)
            try output.finish()
        }
        if !outputs.contains(where: \.isStandardOutput) {
            if !name.showsItself { try terminal.print(DocumentStyle().lines(of: run.recorded.recording)) }
            if let report = name.report(on: run.recorded) {
                try terminal.print(report.split(separator: "\n").map { "# \($0)" })
            }
            try terminal.standardOutput.flush()
        }
        for expectation in run.expectations { terminal.say(shown: terminal.messagePalette.line(of: expectation)) }
        return run.expectations.allSatisfy(\.holds) ? .success : .failed
    }
}

struct List: Command {
    static let configuration = CommandConfiguration(abstract: "List the scenarios.")

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        let rows = ScenarioCatalog.all.map { [$0.name, $0.summary] }
        try terminal.print(Table([.text(), .wrapped()], rows: rows).lines(width: terminal.width))
        return .success
    }
}
