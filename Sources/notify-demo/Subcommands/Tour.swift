import ArgumentParser
import DeliveryDiagnostics
import Scenarios

struct Tour: Command {
    static let configuration = CommandConfiguration(
        abstract: "Show a short guided tour: the documents' first two listings (the default).")

    /// The default subcommand receives every unknown word.
    @Argument(parsing: .allUnrecognized, help: .hidden)
    var words: [String] = []

    private static func unknown(_ word: String) -> String {
        let kind = word.hasPrefix("-") ? "option" : "subcommand"
        let subcommands = NotifyDemo.configuration.subcommands.filter { $0.configuration.shouldDisplay }
            .map { $0.configuration.commandName ?? "\($0)".lowercased() }
        let scenarios = ScenarioCatalog.all.map(\.name)
        let suggestion =
            Suggestion.nearest(to: word, among: subcommands)
            ?? Suggestion.nearest(to: word, among: scenarios).map { "run \($0)" }
        return """
            Error: there is no \(kind) "\(word)".\(suggestion.map { " Did you mean \"\($0)\"?" } ?? "")
            Usage: notify-demo <subcommand>
              See 'notify-demo --help' for more information.
            """
    }

    private static let stops = [
        (
            "posting-thread",
            """
            A notification center delivers on the thread that posts. Here the observer
            registered on the main thread, and another thread posts: the handler runs on
            that other thread.
            """
        ),
        (
            "redirect",
            """
            The document's technique: hold the notification in a queue, signal a port on
            the main thread's run loop, process it there. The same post is now handled on
            the main thread.
            """
        ),
    ]

    func perform(_ terminal: inout Terminal) throws -> ExitStatus {
        if let word = words.first {
            terminal.say(Self.unknown(word))
            throw ExitCode.validationFailure
        }
        var status = ExitStatus.success
        for (name, sentence) in Self.stops {
            guard let scenario = ScenarioCatalog.named(name) else { continue }
            try terminal.flush()
            terminal.say("\(sentence)\n")
            let run = try ScenarioRun.perform(scenario, options: ScenarioOptions())
            let style = DocumentStyle()
            for line in run.records.compactMap({ style.line(for: $0) }) { try terminal.print(line) }
            try terminal.flush()
            terminal.say("")
            for expectation in run.expectations where !expectation.holds {
                terminal.say(ExpectationLine.text(of: expectation, in: name, palette: terminal.errorPalette))
                status = .failed
            }
        }
        terminal.say("Next: notify-demo list, notify-demo run redirect, notify-demo --help")
        return status
    }
}
