import ArgumentParser
import Scenarios
import TerminalText

struct List: Command {
    static let configuration = CommandConfiguration(abstract: "List the scenarios.")

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        let rows = ScenarioCatalog.all.map { [$0.name, $0.summary] }
        try terminal.print(Table([.text(), .wrapped()], rows: rows).lines(width: terminal.width))
        return .success
    }
}
