import ArgumentParser
import ChildProcesses
import DeliveryDiagnostics
import DeliveryRecording
import Foundation
import TerminalText

struct Record: Command {
    static let configuration = CommandConfiguration(
        abstract: "Run a program and record its deliveries to a file.",
        discussion: """
            The program needs no change: a library is preloaded into it and into the processes that it starts, except \
            those with rights that their user does not have, or that are linked statically with the C library. What \
            they do with Foundation's NotificationCenter and NotificationQueue is recorded, and every stage of a \
            delivery of ThreadedNotifications.

            The file is written when the program has ended. If nothing is recorded, it stays as it was. With -o - the \
            program's own output goes to standard error. SIGTERM and SIGHUP are passed on to the program.

            With --repeat the program runs several times. The recordings of the runs that end with status 0 are kept as \
            good-1.jsonl and so on, the others as bad-1.jsonl and so on, in the directory that -o names. If there are \
            both, the message at the end has the command that compares them.

            EXAMPLES
              notify-demo record -- ./my-program --its options
              notify-demo record --check rules.txt -- ./my-program
              notify-demo record -o - -- ./my-program | notify-demo stats -
              notify-demo record --repeat 50 --until-fail -- ./my-program

            EXIT STATUS
              that of the program; 128 plus the signal's number if a
              signal ended it; and
              1    a rule of --check fails and the program's status is
                   0, or a run of --repeat is bad
              2    nothing was recorded
            """)

    @Option(
        name: .shortAndLong,
        help: """
            The file to record to, created or overwritten; - is standard output. With --repeat, the directory. \
            (default: \(RecordingFile.defaultPath))
            """,
        completion: .file(extensions: ["jsonl"]))
    var output: String?

    @Option(
        name: .customLong("repeat"),
        help: ArgumentHelp("Run the program this many times, and keep good and bad recordings apart.", valueName: "n"))
    var repetitions: Int?

    @Flag(help: "With --repeat, stop after the first bad run.")
    var untilFail = false

    @Option(
        help: ArgumentHelp(
            "Check the rules of this file when the program has ended, as 'notify-demo check' does. May be repeated.",
            valueName: "file"),
        completion: .file())
    var check: [String] = []

    @OptionGroup(title: "Rules") var findings: DiagnosisOptions

    @Argument(
        parsing: .postTerminator,
        help: ArgumentHelp("After --, the program and its arguments.", valueName: "program"),
        completion: .file())
    var command: [String] = []

    private var isPrinted: Bool { output.map(Output.isStandardOutput) == true }

    func validate() throws {
        try ValidationError.check("--repeat", repetitions, from: 1, to: .max)
        for (isRefused, problem) in [
            (command.isEmpty, "name a program after --, for example: notify-demo record -- ./my-program"),
            (isPrinted && (repetitions != nil || !check.isEmpty), "--repeat and --check need files. Name one with -o."),
            (repetitions != nil && !check.isEmpty, "--repeat checks no rules. Use 'notify-demo check' afterwards."),
            (check.contains("-"), "standard input belongs to the program. Name a file for --check."),
        ] where isRefused { throw ValidationError(problem) }
    }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        if let repetitions { return try perform(atMost: repetitions, terminal) }
        let file = output ?? RecordingFile.defaultPath
        // The rules are read first, so that an error is reported before the program runs.
        let checked = check.isEmpty ? nil : try findings.check(rulesIn: check)
        let run = try RecordedProgram.run(command, recordingTo: file)
        report(run.files, in: isPrinted ? "standard output" : file, terminal)
        var status = run.files.isEmpty ? ExitStatus.error : .success
        if run.files.records > 0, !isPrinted {
            if let check = try checked?(RecordingFile.read(file, terminal)) {
                let width = TerminalStream.standardError.width ?? .max
                let lines = check.text(width: width, palette: terminal.messagePalette) + [check.totals]
                for line in lines { terminal.say(shown: line) }
                let found = findings.status(isGood: check.holds, unused: check.unusedAccepted, terminal)
                if !run.files.isEmpty { status = found }
            }
            terminal.say("Next: \(NotifyDemo.calledName) diagnose\(RecordingFile.argument(file))")
        }
        switch run.end {
        case .exit(0), .timedOut: return status
        case .exit(let code): throw ExitCode(code)
        case .signal(let signal):
            terminal.report("\(command[0]) was terminated by signal \(signal)")
            throw ExitCode(128 + signal)
        }
    }

    /// Prints how much was recorded, and the reasons for what could not be.
    ///
    /// - Parameter run: precedes what was recorded.
    private func report(
        _ files: RecordedFiles.Outcome, in destination: String, _ terminal: Terminal, run: String = ""
    ) {
        if files.processes == 0 {
            terminal.report(
                """
                \(command[0]) recorded nothing: it posts and observes no notifications, is linked statically, has rights \
                that its user does not have, or could not write its recording and said so.
                """)
        } else {
            let (posts, records) = (counted(files.posts, "post"), counted(files.records, "record"))
            let processes = files.processes == 1 ? "" : " of \(files.processes) processes"
            terminal.report("\(run)recorded \(posts) in \(records)\(processes) to \(destination)")
        }
        for reason in files.unrecorded.sorted() { terminal.report("not recorded: \(Excerpt.of(reason))") }
        for file in files.stillRecording {
            terminal.report("a process that \(command[0]) started still runs and records to \(file)")
        }
    }

    /// Runs the program several times. A run is bad if its status is not 0.
    private func perform(atMost count: Int, _ terminal: Terminal) throws -> ExitStatus {
        let directory = output.map { "\($0)/" } ?? ""
        if let output { try FileManager.default.createDirectory(atPath: output, withIntermediateDirectories: true) }
        var (good, bad): ([String], [String]) = ([], [])
        defer {
            terminal.report("\(counted(good.count, "good run")), \(counted(bad.count, "bad run"))")
            if !good.isEmpty, !bad.isEmpty {
                let lists = [good, bad].map { $0.map(ShellText.path).joined(separator: " ") }
                terminal.say("Next: \(NotifyDemo.calledName) compare --good \(lists[0]) --bad \(lists[1])")
            }
        }
        while good.count + bad.count < count, !untilFail || bad.isEmpty {
            let file = "\(directory)run-\(getpid()).jsonl"
            let run = try RecordedProgram.run(command, recordingTo: file)
            if let request = run.request {
                // The run is neither good nor bad.
                unlink(file)
                throw ExitCode(128 + request)
            }
            let isGood = run.end == .exit(0)
            let kept = directory + (isGood ? "good-\(good.count + 1).jsonl" : "bad-\(bad.count + 1).jsonl")
            report(run.files, in: kept, terminal, run: "run \(good.count + bad.count + 1) of \(count): \(run.end); ")
            rename(file, kept)
            if run.files.isEmpty { return .error }
            if isGood { good.append(kept) } else { bad.append(kept) }
        }
        return bad.isEmpty ? .success : .failed
    }
}
