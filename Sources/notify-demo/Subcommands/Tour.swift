import ArgumentParser
import DeliveryDiagnostics

struct Tour: Command {
    static let configuration = CommandConfiguration(
        abstract: "A short guided tour: the documents' first two listings (this is what happens without a subcommand).")

    @Argument(help: .hidden)
    var words: [String] = []

    func validate() throws {
        // As the default subcommand it is handed every word that is none.
        guard let word = words.first else { return }
        let names = NotifyDemo.configuration.subcommands.filter { $0.configuration.shouldDisplay }
            .map { $0.configuration.commandName ?? "\($0)".lowercased() }
        let nearest = Suggestion.nearest(to: word, among: names)
        throw ValidationError(
            "there is no subcommand \"\(word)\". \(nearest.map { "Did you mean \"\($0)\"? " } ?? "")"
                + "'notify-demo --help' tells what there is.")
    }

    private static let stops = [
        (
            "posting-thread",
            """
            A notification center delivers on the thread that posts. Here the observer registered
            on the main thread, and another thread posts: the handler runs on that other thread.
            """
        ),
        (
            "redirect",
            """
            The document's technique: hold the notification in a queue, signal a port on the main
            thread's run loop, process it there. The same post is now handled on the main thread.
            """
        ),
    ]

    func perform(_ terminal: inout Terminal) throws -> ExitStatus {
        var status = ExitStatus.good
        for (name, sentence) in Self.stops {
            guard let scenario = Scenarios.named(name) else { continue }
            try terminal.print("\(sentence)\n")
            let run = try ScenarioRun.perform(scenario, options: ScenarioOptions())
            let style = DocumentStyle()
            for line in run.records.compactMap({ style.line(for: $0) }) { try terminal.print(line) }
            try terminal.print("")
            for expectation in run.expectations where !expectation.holds {
                terminal.say(ExpectationLine.text(of: expectation, in: name, palette: terminal.errorPalette))
                status = .failed
            }
        }
        try terminal.print("Next: notify-demo list, notify-demo run redirect --style stages, notify-demo --help")
        return status
    }
}
