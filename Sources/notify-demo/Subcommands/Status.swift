import ArgumentParser
import DeliveryDiagnostics
import DistributedNotifications
import Foundation

struct Status: Command {
    static let configuration = CommandConfiguration(
        abstract: "Show the server's clients, what they observe, what waits for them, and what was dropped.",
        discussion: """
            Dropped is what was not handed to a process because it did not read as fast as others posted; discarded, what was \
            held for a suspended one beyond the limit. No server is started for the question.

            EXAMPLES
              notify-demo status
              notify-demo status --json | jq '.clients[] | select(.dropped > 0) | .processID'

            EXIT STATUS
              0 shown, 1 no server runs, 2 it does not answer, or is not to be reached
            """)

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var place: PlaceOption

    func perform(_ terminal: inout Terminal) throws -> ExitStatus {
        let place = place.place
        guard let status = try DistributedCenter.status(of: place) else {
            terminal.say("notify-demo: no server runs at \(place.directory). Who posts or observes first starts one.")
            return .failed
        }
        if json {
            try terminal.print(JSONText.of(status))
        } else {
            for line in ServerStatusReport(status).text(width: TerminalWidth.ofTerminal ?? .max) {
                try terminal.print(line)
            }
        }
        return .success
    }
}
