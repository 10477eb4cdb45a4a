import ArgumentParser
import Foundation

/// Prints the manual page. Hidden: install.sh calls it.
struct GenerateManual: Command {
    static let configuration = CommandConfiguration(
        commandName: "generate-manual", abstract: "Print the manual page, in mdoc.", shouldDisplay: false)

    func perform(_ terminal: inout Terminal) throws -> ExitStatus {
        // A build system can set the date of the sources: https://reproducible-builds.org/specs/source-date-epoch/
        let source = ProcessInfo.processInfo.environment["SOURCE_DATE_EPOCH"].flatMap(TimeInterval.init)
        let date = source.map(Date.init(timeIntervalSince1970:)) ?? Date()
        try terminal.print(ManualPage.text(for: CommandDescription(of: NotifyDemo.self), date: date))
        return .success
    }
}
