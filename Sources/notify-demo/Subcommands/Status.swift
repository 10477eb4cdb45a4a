import ArgumentParser
import DeliveryDiagnostics
import DistributedNotifications
import Foundation

struct Status: Command {
    static let configuration = CommandConfiguration(
        abstract: "Show the server's clients, their observers, and the notifications that wait or were dropped.",
        discussion: """
            Dropped notifications were not sent to a process because it read too slowly. Discarded ones exceeded the \
            limit of notifications that are held for a suspended process. The command starts no server.

            EXAMPLES
              notify-demo status
              notify-demo status --json | jq '.clients[] | select(.dropped > 0) | .process'

            EXIT STATUS
              0 shown, 1 no server runs, 2 the server does not answer or cannot be reached
            """)

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var server: ServerOption

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        let directory = server.directory
        guard let status = try DistributedCenter.status(of: directory) else {
            terminal.report(
                "no server runs at \(directory.path). The first process that posts or observes starts one.")
            return .failed
        }
        if json {
            try terminal.print(JSONText.of(status))
        } else {
            try terminal.print(status.report(width: terminal.width))
        }
        return .success
    }
}
