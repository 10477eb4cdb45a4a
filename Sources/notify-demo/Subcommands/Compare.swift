import ArgumentParser
import DeliveryDiagnostics
import DeliveryRecording
import Scenarios

extension ReferenceLog: ExpressibleByArgument {}

struct Compare: Command {
    static let configuration = CommandConfiguration(
        abstract: "Compare two runs by cause and effect, or a run with a log of the documents.",
        discussion: """
            A run is a recording (record, or run SCENARIO -o FILE) or a text log: lines in NSLog's format, or comments \
            that begin with #:
              \("2016-02-13 22:05:12.856 test[865:45102] current thread = {number = 1, name = main}")
            It is a file, or - for standard input.

            Two recordings are the same if events that cause one another have the same order: the actions of each \
            thread, and on each thread the work that one other thread handed to it. Work from several threads may \
            interleave in any way. Threads are matched by name, and unnamed ones by their actions. Numbers of posts, \
            observers, threads and processes, addresses (0x and at least 9 digits) and times are ignored; of senders \
            only the types are compared. Also ignored are signals, drains, whether a wait had to wait, and how many \
            handlers run while an observer is removed, because they depend on chance.

            A text log does not contain causes, so only the order of each thread's lines is compared. A recording that \
            is compared with a text log is reduced to its log lines.

            --exact compares all records, or all lines, in the order of the files.

            EXAMPLES
              notify-demo compare yesterday.jsonl today.jsonl
              ./my-program 2>&1 >/dev/null | notify-demo compare expected.log -
              notify-demo run posting-thread | notify-demo compare --reference listing-1 -
              notify-demo compare --exact --json a.jsonl b.jsonl

            EXIT STATUS
              0 the same, 1 different, 2 a run cannot be read, or the comparison is undecided: it took too long, or \
            the complete part of a truncated recording is the same
            """)

    @Option(help: "A log of the documents to compare with.")
    var reference: ReferenceLog?

    @Flag(help: "Compare everything in the order of the files.")
    var exact = false

    @Flag(help: "Print the outcome as JSON: outcome, reason and both sides.")
    var json = false

    @Argument(help: "Two runs, or one with --reference.", completion: .file())
    var runs: [String]

    func validate() throws {
        let expected = reference == nil ? 2 : 1
        if runs.count != expected {
            throw ValidationError(
                reference == nil
                    ? "expected two runs, got \(runs.count). "
                        + "To compare with a log of the documents, use --reference."
                    : "expected one run with --reference, got \(runs.count).")
        }
        if runs.allSatisfy({ $0 == "-" }), runs.count == 2 {
            throw ValidationError("standard input can be read only once. Name a file for one of the two runs.")
        }
    }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        var inputs: [ComparisonInput] = reference.map { [.log(LogReader($0))] } ?? []
        for run in runs {
            inputs.append(
                try ComparisonInput(path: run) { count in terminal.show(progress: "\(count) records of \(run) read") })
        }
        switch (inputs[0], inputs[1]) {
        case (.log(let first), .log(let second)):
            return try compare(first, second, terminal)
        case (let first, let second):
            let areRecordings = first.isRecording && second.isRecording
            let recordings = try [first, second].map { try recording($0, terminal) }
            for recording in recordings {
                recording.reportProblems(on: terminal)
                sayLost(of: recording, terminal)
            }
            let outcome = CausalComparison.compare(
                recordings[0], recordings[1],
                order: areRecordings ? (exact ? .exact : .causal) : (exact ? .loggedExactly : .logged)
            ) { terminal.show(progress: "\($0) records are the same") }
            return try print(outcome, terminal)
        }
    }

    private func recording(_ input: ComparisonInput, _ terminal: Terminal) throws -> Recording {
        switch input {
        case .recording(let recording): recording
        case .log(let reader): try text(reader, terminal).recording
        }
    }

    private func text(_ reader: LogReader, _ terminal: Terminal) throws -> TextLog {
        try TextLog(reader) { terminal.show(progress: "\($0) lines of \(reader.name) read") }
    }

    private func compare(
        _ first: LogReader, _ second: LogReader, _ terminal: Terminal
    ) throws -> ExitStatus {
        let outcome =
            exact
            ? TextLog.Outcome(
                try LogComparison.compare(first, second) { terminal.show(progress: "\($0) lines are the same") })
            : TextLog.compare(try text(first, terminal), try text(second, terminal)) {
                terminal.show(progress: "\($0) lines are the same")
            }
        if json { try terminal.print(try ComparisonLine(outcome).text) }
        switch outcome {
        case .same(let lines, let threads):
            if !json { try terminal.print("the same: \(count(lines, "line")) by \(count(threads, "thread"))") }
            return .success
        case .different(let difference):
            if !json { try terminal.print(difference.description) }
            return .failed
        case .undecided(let tries):
            terminal.report(
                "the comparison is undecided: several threads write such similar lines "
                    + "that \(count(tries, "attempt")) did not match them. Name the threads, or use --exact.")
            return .error
        }
    }

    private func print(_ outcome: CausalComparison.Outcome, _ terminal: Terminal) throws -> ExitStatus {
        if json { try terminal.print(try ComparisonLine(outcome).text) }
        switch outcome {
        case .same(let records, let threads):
            if !json { try terminal.print("the same: \(count(records, "record")) by \(count(threads, "thread"))") }
            return .success
        case .different(let difference):
            if !json { try terminal.print(difference.description) }
            return .failed
        case .undecided(let undecided):
            if !undecided.isTruncated {
                terminal.report("\(undecided)")
            } else if !json {
                try terminal.print(undecided.description)
            }
            return .error
        }
    }

    private func sayLost(of recording: Recording, _ terminal: Terminal) {
        let lost = recording.lostCount
        guard lost > 0 else { return }
        terminal.report(
            "\(recording.source): \(count(lost, "record")) could not be stored while recording, "
                + "which may appear as a difference.")
    }

    private func count(_ number: Int, _ noun: String, _ plural: String? = nil) -> String {
        "\(number) \(number == 1 ? noun : plural ?? noun + "s")"
    }
}
