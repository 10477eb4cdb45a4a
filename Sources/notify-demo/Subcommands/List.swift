import ArgumentParser
import DeliveryDiagnostics
import Scenarios

struct List: Command {
    static let configuration = CommandConfiguration(
        abstract: "List the scenarios.",
        discussion: """
            EXAMPLES
              notify-demo list
              notify-demo list --json
            """)

    @Flag(help: "Print each scenario as JSON, one per line.")
    var json = false

    private struct Entry: Encodable {
        var name: String
        var summary: String
        var options: [String]
    }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        let entries = ScenarioCatalog.all.map { scenario in
            let options = ScenarioOptions.Name.allCases.filter(scenario.options.contains).map { "--\($0.rawValue)" }
            return Entry(name: scenario.name, summary: scenario.summary, options: options)
        }
        if json {
            for entry in entries { try terminal.print(JSONText.of(entry)) }
        } else {
            let rows = entries.map { entry in
                [
                    entry.name,
                    ([entry.summary] + [entry.options.joined(separator: " ")]).filter { !$0.isEmpty }
                        .joined(separator: "\n"),
                ]
            }
            for line in Table([.text(), .wrapped()], rows: rows).lines(width: terminal.width) {
                try terminal.print(line)
            }
        }
        return .success
    }
}
