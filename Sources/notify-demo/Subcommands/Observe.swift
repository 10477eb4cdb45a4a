import ArgumentParser
import ChildProcesses
import DeliveryDiagnostics
import DistributedNotifications
import Foundation

struct Observe: Command {
    static let configuration = CommandConfiguration(
        abstract: "Print the notifications that this user's processes post, or wait for some.",
        discussion: """
            Prints a line for each: the time, the process that posted it (its name, if it is still running, and its \
            id as the kernel reports it), the thread on which it was delivered, its name, object and userInfo:
              2026-11-21 16:14:57.940 make[4711] → 1 main: done of "Soup" with {"n":3}

            Lost notifications have a line too: a gap gives their number and the cause; an interruption is the end of \
            the server, after which the number is unknown. With --json, each line is an object: kind is notification, \
            gap, interrupted, connected or failed.

            For scripts: the line "observing NAME" on standard error means that no later notification is missed. Then \
            the command after -- is started, which keeps running afterwards. If it fails before, the waiting ends.

            EXAMPLES
              notify-demo observe build-done --object Kitchen
              notify-demo observe build-done -N 1 --timeout 2m && ./deploy
              notify-demo observe server-ready -N 1 --timeout 10s -- ./server --port 8080
              notify-demo observe --json | jq -r 'select(.kind == "gap").count'

            EXIT STATUS
              0 -N notifications arrived, or, without -N, the timeout passed; 1 the timeout passed first; 2 the \
            command failed, or the server cannot be reached or started; 130 ended by Ctrl-C
            """)

    @Argument(help: "The name to observe (default: any).")
    var name: String?

    @Option(help: "The object to observe (default: any).")
    var object: String?

    @Option(name: [.customShort("N"), .customLong("count")], help: "End after this many notifications.")
    var count: Int?

    @Option(help: "End after this time: 200ms, 5s, 2m.", transform: ElapsedTime.argument)
    var timeout: ElapsedTime?

    @Flag(help: "Print each line as JSON.")
    var json = false

    @OptionGroup var server: ServerOption

    @Argument(
        parsing: .postTerminator, help: "After --, a command to start, and its arguments.",
        completion: .file())
    var command: [String] = []

    func validate() throws {
        try ValidationError.check { try DistributedCenter.check(name: name, object: object) }
        try ValidationError.check("-N", count, from: 1)
    }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        let what = (name ?? "any notification") + (object.map { " of \($0)" } ?? "")
        let observation = try Observation(name, object, in: server.directory, timeout: timeout?.duration)
        var isConnected = false
        let end = try observation.run(count: count, command, terminal) { event in
            if let server = event.serverProcess, !isConnected {
                isConnected = true
                terminal.say("observing \(what), connected to server \(server)")
            } else {
                try terminal.print(json ? JSONText.of(event) : event.line())
                try terminal.standardOutput.flush()
            }
        }
        switch end {
        case .arrived: return .success
        case .timedOut(let missing):
            guard let count else { return .success }
            terminal.report(
                "\(count - missing) of \(count) notifications arrived within \(timeout?.description ?? "")")
            return .failed
        // Ctrl-C was for this process too; the command happened to end first.
        case .commandFailed(.signal(SIGINT)): EndRequests.end(by: SIGINT)
        case .commandFailed(let end): terminal.report("\(command[0]) ended with \(end), and \(what) has not arrived")
        }
        return .error
    }
}
