import ArgumentParser
import DeliveryDiagnostics
import Scenarios
import TerminalText

struct List: Command {
    static let configuration = CommandConfiguration(abstract: "List the scenarios.")

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
            try terminal.print(entries.map { try JSONText.of($0) })
        } else {
            let rows = entries.map { entry in
                let options = entry.options.joined(separator: " ")
                return [entry.name, entry.summary + (options.isEmpty ? "" : "\n\(options)")]
            }
            try terminal.print(Table([.text(), .wrapped()], rows: rows).lines(width: terminal.width))
        }
        return .success
    }
}
