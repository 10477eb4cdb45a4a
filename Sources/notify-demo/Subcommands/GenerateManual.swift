import ArgumentParser
import Foundation

/// Prints the manual page. Hidden: it is for who installs the program.
struct GenerateManual: Command {
    static let configuration = CommandConfiguration(
        commandName: "generate-manual", abstract: "Print the manual page, in mdoc.", shouldDisplay: false)

    func perform(_ terminal: inout Terminal) throws -> ExitStatus {
        // The date of the sources, where who builds says so: https://reproducible-builds.org/specs/source-date-epoch/
        let source = ProcessInfo.processInfo.environment["SOURCE_DATE_EPOCH"].flatMap(TimeInterval.init)
        let date = source.map(Date.init(timeIntervalSince1970:)) ?? Date()
        try terminal.print(ManualPage.text(for: CommandDescription(of: NotifyDemo.self), date: date))
        return .good
    }
}
