import ArgumentParser
import DeliveryDiagnostics
import DistributedNotifications
import Foundation

struct Observe: Command {
    static let configuration = CommandConfiguration(
        abstract: "Print the notifications that this user's processes post.",
        discussion: """
            Prints a line for each: the time, the process that posted it (its name, if it is still running, and its \
            id as the kernel reports it), the thread on which it was delivered, its name, object and userInfo:
              2026-11-21 16:14:57.940 make[4711] → 1 main: done of "Soup" with {"n":3}

            Lost notifications have a line too, in order: a gap gives their number and the cause; an interruption is \
            the end of the server, after which the number is unknown. The observer is registered again automatically. \
            With --json, each line is an object: kind is notification, gap, interrupted, connected or failed; dates \
            are text, and data is base64.

            EXAMPLES
              notify-demo observe
              notify-demo observe build-done --object Kitchen -N 10 --timeout 5s
              notify-demo observe done --behavior hold --suspend-after 1s --resume-after 2s
              notify-demo observe --json | jq -r 'select(.kind == "gap").count'

            EXIT STATUS
              0 -N notifications arrived, or, without -N, the timeout passed; 1 the timeout passed first; 2 the \
            server cannot be reached or started; 130 ended by Ctrl-C
            """)

    @Argument(help: "The name to observe (default: any).")
    var name: String?

    @Option(help: "The object to observe (default: any).")
    var object: String?

    @Option(help: "What the server does with notifications while delivery is suspended.")
    var behavior = SuspensionBehavior.coalesce

    @Option(duration: "Suspend delivery after this time: 200ms, 5s, 2m.")
    var suspendAfter: ElapsedTime?

    @Option(duration: "Resume delivery this long after it was suspended.")
    var resumeAfter: ElapsedTime?

    @Option(name: [.customShort("N"), .customLong("count")], help: "End after this many notifications.")
    var count: Int?

    @Option(duration: "End after this time: 200ms, 5s, 2m.")
    var timeout: ElapsedTime?

    @Flag(help: "Print each line as JSON.")
    var json = false

    @OptionGroup var server: ServerOption

    func validate() throws {
        try ValidationError.check { try DistributedCenter.check(name: name, object: object) }
        if let count, count < 1 { throw ValidationError("-N is \(count), and must be 1 or more.") }
        if resumeAfter != nil, suspendAfter == nil {
            throw ValidationError("--resume-after counts from the suspension, so it needs --suspend-after.")
        }
    }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        let observation = try Observation(
            name: name, object: object, behavior: behavior, directory: server.directory, timeout: timeout?.duration)
        let resumeAt = suspendAfter.flatMap { begin in resumeAfter.map { begin.duration + $0.duration } }
        var isConnected = false
        var received = 0
        let status = try observation.run(count: count, suspensions: (suspendAfter?.duration, resumeAt), terminal) {
            event in
            if case .connection(.connected(let server)) = event.kind, !isConnected {
                isConnected = true
                terminal.say("observing \(observation.description), connected to server \(server)")
            } else {
                if case .notification = event.kind { received += 1 }
                try terminal.print(json ? JSONText.of(event) : event.line())
                try terminal.standardOutput.flush()
            }
        }
        if status == .failed, let count {
            terminal.report("\(received) of \(count) notifications arrived within \(timeout?.description ?? "")")
        }
        return status
    }
}
