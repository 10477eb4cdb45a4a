import ArgumentParser
import DeliveryDiagnostics
import DistributedNotifications
import Foundation

struct Observe: Command {
    static let configuration = CommandConfiguration(
        abstract: "Print notifications of this user's processes as they come.",
        discussion: """
            Each has a line: the time, the process that posted it (its name, if it still runs, and its id as the kernel tells \
            it), the thread on which it was delivered, its name, object and userInfo:
              2026-11-21 16:14:57.940 make[4711] → 1 main: done of "Soup" with {"n":3}

            What was lost has a line too, in its place: a gap says how many and why; after an interruption, which is the end \
            of the server, nobody knows how many. The observer is registered again by itself. With --json each line is an \
            object: kind is notification, gap, interrupted, connected or failed; dates are text, and data is base64.

            EXAMPLES
              notify-demo observe
              notify-demo observe build-done --object Kitchen -N 10 --timeout 5s
              notify-demo observe done --behavior hold --suspend-after 1s --resume-after 2s
              notify-demo observe --json | jq -r 'select(.kind == "gap").count'

            EXIT STATUS
              0 as many came as -N says, or, without -N, the time has passed; 1 the time has passed before they came; 2 the \
            server can be neither reached nor started; 130 ended by Ctrl-C
            """)

    @Argument(help: ArgumentHelp("The notifications' name; without, any.", valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp("Whose notifications; without, anybody's.", valueName: "object"))
    var object: String?

    @Option(help: "What the server does with them while delivery is suspended.")
    var behavior = SuspensionBehavior.coalesce

    @Option(help: ArgumentHelp("Suspend delivery so long after the beginning: 200ms, 5s, 2m.", valueName: "duration"))
    var suspendAfter: ElapsedTime?

    @Option(help: ArgumentHelp("Resume it so long after it was suspended.", valueName: "duration"))
    var resumeAfter: ElapsedTime?

    @Option(
        name: [.customShort("N"), .customLong("count")],
        help: ArgumentHelp("End when so many notifications have come.", valueName: "count"))
    var count: Int?

    @Option(help: ArgumentHelp("End after so long: 200ms, 5s, 2m.", valueName: "duration"))
    var timeout: ElapsedTime?

    @Flag(help: "Print each as JSON, one a line.")
    var json = false

    @OptionGroup var place: PlaceOption

    func validate() throws {
        try NotificationWords(name: name, object: object).validate()
        if let count, count < 1 { throw ValidationError("-N is \(count), and must be 1 or more.") }
        if resumeAfter != nil, suspendAfter == nil {
            throw ValidationError("--resume-after says how long delivery is suspended, and needs --suspend-after.")
        }
    }

    func perform(_ terminal: inout Terminal) throws -> ExitStatus {
        let observation = try Observation(
            name: name, object: object, behavior: behavior, place: place.place, timeout: timeout?.duration)
        let plan = ObservingPlan(
            count: count, timeout: timeout?.duration, suspendAfter: suspendAfter?.duration,
            resumeAfter: resumeAfter?.duration)
        let style = ObservedEventStyle()
        var isConnected = false
        var came = 0
        let status = try observation.run(plan, &terminal) { event, terminal in
            if case .connection(.connected(let server)) = event.kind, !isConnected {
                isConnected = true
                terminal.say("observing \(observation.description), connected to server \(server)")
            } else {
                if case .notification = event.kind { came += 1 }
                try terminal.print(json ? JSONText.of(event) : style.line(for: event))
                try terminal.flush()
            }
        } interrupted: { _, _ in
            nil
        }
        if status == .failed, let count {
            terminal.say("notify-demo: \(came) of \(count) came within \(timeout?.description ?? "")")
        }
        return status
    }
}
