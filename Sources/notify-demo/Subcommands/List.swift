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

    func perform(_ terminal: inout Terminal) throws -> ExitStatus {
        let width = ScenarioCatalog.all.map(\.name.count).max() ?? 0
        for scenario in ScenarioCatalog.all {
            let options = ScenarioOptions.Name.allCases.filter(scenario.options.contains).map { "--\($0.rawValue)" }
            if json {
                let entry = Entry(name: scenario.name, summary: scenario.summary, options: options)
                try terminal.print(JSONText.of(entry))
            } else {
                let padding = String(repeating: " ", count: width - scenario.name.count)
                try terminal.print("\(scenario.name)\(padding)  \(scenario.summary)")
                if !options.isEmpty {
                    try terminal.print("\(String(repeating: " ", count: width))  \(options.joined(separator: " "))")
                }
            }
        }
        return .success
    }
}
