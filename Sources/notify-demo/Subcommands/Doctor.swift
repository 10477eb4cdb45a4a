import ArgumentParser
import ChildProcesses
import DeliveryDiagnostics
import Foundation
import PlatformExamination
import Scenarios

struct Doctor: Command {
    static let configuration = CommandConfiguration(
        abstract: "Examine where this platform's Foundation differs from the expected behaviour.",
        discussion: """
            Facts F1 to F23 are known differences of Foundation on Linux. Each is examined again, for Foundation and \
            for this package, in processes of their own, because some of them crash. ok is the expected behaviour; NO \
            is not, with what was observed. Words in parentheses differ from run to run.

            With --json each line is a fact: fact, area, expected, and questions, each of which has name, claim, \
            foundation and ours, with kept (true or false), observed and expected; and sentence, the document's, if \
            there is one.

            EXAMPLES
              notify-demo doctor --fact F7 --fact F11
              notify-demo doctor --json | jq -r 'select(any(.questions[]; .foundation.kept)) | .fact'
              notify-demo doctor --queues

            EXIT STATUS
              0 success, whatever Foundation does; 1 this package differs from the expected behaviour; 2 a process \
            cannot be started
            """)

    @Option(help: ArgumentHelp("Examine only this fact; may be repeated.", valueName: "number"))
    var fact: [String] = []

    @Option(duration: "The longest that one process may run, at most 1h. After that it is reported as hanging.")
    var timeout = ElapsedTime(.seconds(60))

    @Flag(help: "Print each fact as JSON, one per line.")
    var json = false

    @Flag(help: "Print which promises the notification queues keep, instead of the facts.")
    var queues = false

    @Flag(help: "With --queues, print a table in Markdown.")
    var markdown = false

    @Option(help: ColorChoice.help)
    var color = ColorChoice.auto

    func validate() throws {
        for number in fact where !Fact.all.contains(where: { $0.number == number.uppercased() }) {
            throw ValidationError("there is no fact \"\(number)\". The facts are F1 to F\(Fact.all.count).")
        }
        guard timeout.duration > .zero, timeout.duration <= .seconds(3600) else {
            throw ValidationError("--timeout is \(timeout); it must be greater than 0s and at most 1h.")
        }
        if queues, json || !fact.isEmpty {
            throw ValidationError("--queues prints all promises as text, so it does not allow --fact or --json.")
        }
        if markdown, !queues { throw ValidationError("--markdown requires --queues.") }
    }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        let facts = Fact.all.filter { fact.isEmpty || fact.map { $0.uppercased() }.contains($0.number) }
        let examination = try Examination.perform(
            queues ? Question.queues : facts.flatMap(\.questions), in: .own([DoctorChild.name]),
            timeout: timeout.duration,
            progress: { [line = terminal.progressLine] in line.show("\(Int($0 * 100)) % examined") })
        if queues {
            try terminal.print(markdown ? examination.markdown : examination.verdicts)
        } else if json {
            try terminal.print(examination.jsonLines())
        } else {
            try terminal.print(
                shown: [examination.text(width: TerminalWidth.current) { terminal.palette.result($0, isGood: $1) }])
        }
        try terminal.standardOutput.flush()
        for failure in examination.failures {
            let expectation = Expectation(failure.claim, failure: failure.reason)
            terminal.say(shown: terminal.line(of: expectation, isMessage: true))
        }
        return examination.failures.isEmpty ? .success : .failed
    }
}
