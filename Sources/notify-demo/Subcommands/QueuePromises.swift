import ArgumentParser
import DeliveryDiagnostics
import Foundation

/// Compares Foundation's notification queue with the package's.
struct QueuePromises: Command {
    static let configuration = CommandConfiguration(
        commandName: "queue-promises", abstract: "What notification queues promise, and which queue keeps it here.",
        shouldDisplay: false)

    @Flag(help: "Print a table in Markdown.")
    var markdown = false

    func perform(_ terminal: inout Terminal) throws -> ExitStatus {
        guard let path = Bundle.main.executablePath else { throw ScenarioError.noChildProgram }
        let comparison = try QueueComparison.perform(
            in: ChildProgram(path: path, arguments: [QueuePromiseChild.name]))
        try terminal.print(markdown ? comparison.markdown : comparison.text)
        return comparison.rows.allSatisfy { $0.postingQueue == .kept } ? .good : .failed
    }
}
