public import ArgumentParser
public import DeliveryDiagnostics

extension ReferenceLog: ExpressibleByArgument {}

struct Compare: Command {
    static let configuration = CommandConfiguration(
        abstract: "Compare two thread logs, or one with a log of the documents.",
        discussion: """
            Times, thread ids, process ids and process names may differ. What was said, in which order, and by the \
            same or another thread may not.

            A log is a file, or - for standard input; its lines are those of NSLog, \
            or comments that begin with #:
              \("2016-02-13 22:05:12.856 test[865:45102] current thread = {number = 1, name = main}")

            EXAMPLES
              notify-demo compare yesterday.log today.log
              ./my-program 2>&1 >/dev/null | notify-demo compare expected.log -
              notify-demo run posting-thread | notify-demo compare --reference listing-1 -

            EXIT STATUS
              0 the same, 1 different, 2 a log cannot be read or a line is no log line
            """)

    @Option(help: "A log of the documents to compare with.")
    var reference: ReferenceLog?

    @Argument(help: "One log with --reference, two without.", completion: .file())
    var logs: [String]

    func validate() throws {
        let expected = reference == nil ? 2 : 1
        if logs.count != expected {
            throw ValidationError(
                reference == nil
                    ? "two logs are compared, and \(logs.count) \(logs.count == 1 ? "is" : "are") given. "
                        + "For a log of the documents use --reference."
                    : "with --reference one log is compared, and \(logs.count) are given.")
        }
        if logs.allSatisfy({ $0 == "-" }), logs.count == 2 {
            throw ValidationError("standard input can be read once only: give a file for one of the two logs.")
        }
    }

    func perform(_ terminal: inout Terminal) throws -> ExitStatus {
        let progress = ProgressLine("compare")
        defer { progress.clear() }
        let readers = try (reference.map { [LogReader($0)] } ?? []) + logs.map { try LogReader(path: $0) }
        let outcome = try LogComparison.compare(readers[0], readers[1]) { progress.show("\($0) lines are the same") }
        progress.clear()
        switch outcome {
        case .same(let lines, let threads):
            try terminal.print("the same: \(count(lines, "line")) by \(count(threads, "thread"))")
            return .good
        case .different(let difference):
            try terminal.print(difference.description)
            return .failed
        }
    }

    private func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }
}
