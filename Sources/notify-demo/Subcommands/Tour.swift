import ArgumentParser
import DeliveryDiagnostics
import Scenarios

struct Tour: Command {
    static let configuration = CommandConfiguration(
        abstract: "Show a short guided tour: the documents' first two listings (the default).")

    private static let stops: KeyValuePairs = [
        "posting-thread": """
        From Apple's document "Delivering Notifications To Particular Threads": a
        notification center delivers on the thread that posts. Here the observer
        registered on the main thread, and another thread posts: the handler runs on
        that other thread.

        """,
        "redirect": """
        The document's technique: hold the notification in a queue, signal a port on
        the main thread's run loop, process it there. The same post is now handled on
        the main thread.

        """,
    ]

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        var status = ExitStatus.success
        for (name, text) in Self.stops {
            // With the log on one stream, so that the order is right through a pipe too.
            try terminal.print(text)
            let run = try ScenarioRun.perform(ScenarioCatalog.scenario(name), terminal)
            try terminal.print(DocumentStyle().lines(of: run.recorded.recording) + [""])
            try terminal.standardOutput.flush()
            for expectation in run.expectations where !expectation.holds {
                terminal.say(shown: terminal.messagePalette.line(of: expectation, in: name))
                status = .failed
            }
        }
        let commands = ["record -- ./my-program", "list", "--help"]
        try terminal.print(["Next:"] + commands.map { "  \(NotifyDemo.calledName) \($0)" })
        return status
    }
}
