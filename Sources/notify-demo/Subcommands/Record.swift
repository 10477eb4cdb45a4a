import ArgumentParser
import ChildProcesses
import DeliveryDiagnostics
import DeliveryRecording
import Foundation
import SystemPackage
import TerminalText

struct Record: Command {
    static let configuration = CommandConfiguration(
        abstract: "Run a program and record its deliveries to a file.",
        discussion: """
            The program needs no change, and need not link ThreadedNotifications: the library \
            libnotification-recorder.so is preloaded into it. What it does with Foundation's NotificationCenter and \
            NotificationQueue is recorded, and every stage of a delivery of ThreadedNotifications. Processes that it \
            starts or forks are recorded too. Nothing is preloaded into a program with rights that its user does not \
            have, or into one that is linked statically with the C library; these can record themselves with \
            ProcessRecording.start(to:).

            The file is written when the program has ended. If the program cannot be run, or nothing is recorded, the \
            file stays as it was. With -o - the recording is printed when the program has ended, and the program's own \
            output goes to standard error. While the program runs, SIGTERM and SIGHUP are passed on to it.

            With --repeat the program runs several times. The recordings of the runs that end with status 0 are kept as \
            good-1.jsonl and so on, the others as bad-1.jsonl and so on, in the directory that -o names. If there are \
            both, the message at the end has the command that compares them.

            With --check, the rules are checked when the program has ended, as by 'notify-demo check' with the same \
            options, and the results are printed on standard error.

            EXAMPLES
              notify-demo record -- ./my-program --its options
              notify-demo record --check rules.txt -- ./my-program
              notify-demo record -o - -- ./my-program | notify-demo stats -
              notify-demo record --repeat 50 --until-fail -- ./my-program

            EXIT STATUS
              that of the program; 128 plus the signal's number if a
              signal ended it; and
              1    with --check, a rule fails and the program's status is
                   0; with --repeat, a run is bad
              2    nothing was recorded
              64   with --check, a rule cannot be read
            """)

    @Option(
        name: .shortAndLong,
        help: """
            The file to record to, created or overwritten; - is standard output. With --repeat, the directory.
            """,
        completion: .file(extensions: ["jsonl"]))
    var output = RecordingFile.defaultPath

    @Option(
        name: .customLong("repeat"),
        help: ArgumentHelp("Run the program this many times, and keep good and bad recordings apart.", valueName: "n"))
    var repetitions: Int?

    @Flag(help: "With --repeat, stop after the first bad run.")
    var untilFail = false

    @Option(
        help: ArgumentHelp(
            "Check the rules of this file: see 'notify-demo help check'. May be repeated.", valueName: "file"),
        completion: .file())
    var check: [String] = []

    @Option(help: ColorChoice.help)
    var color = ColorChoice.auto

    @OptionGroup(title: "Rules") var options: CheckOptions

    @OptionGroup(title: "Rules") var annotations: AnnotationOptions

    @OptionGroup(title: "Rules") var findings: DiagnosisOptions

    @Argument(
        parsing: .captureForPassthrough,
        help: ArgumentHelp("After --, the program and its arguments.", valueName: "program"),
        completion: .file())
    var words: [String] = []

    /// The program and its arguments. The first word is --.
    private var command: [String] { Array(words.dropFirst()) }

    func validate() throws {
        // The words include unknown options, and these.
        if ["-h", "--help"].contains(words.first) { throw CleanExit.helpRequest(self) }
        guard let first = words.first, first != "--" || words.count > 1 else {
            throw ValidationError("name a program after --, for example: notify-demo record -- ./my-program")
        }
        if first.hasPrefix("-"), first != "--" {
            throw ValidationError("record has no option \"\(first)\". Options of the program follow it, after --.")
        }
        if first != "--" {
            let example = ["notify-demo record", "-o \(ShellText.path(output))", "--"] + words.map(ShellText.word)
            throw ValidationError("the program must follow --: \(example.joined(separator: " "))")
        }
        try ValidationError.check("--repeat", repetitions, from: 1)
        let (isRepeated, isChecked) = (repetitions != nil, !check.isEmpty)
        let isUseless =
            !isChecked
            && (options.allowIncomplete || !options.outputs.isEmpty || findings.accept != nil
                || findings.limits != DiagnosisLimits() || annotations.annotations != .auto)
        for (isRefused, problem) in [
            (untilFail && !isRepeated, "--until-fail needs --repeat with the largest number of runs."),
            (
                isRepeated && isChecked,
                "--repeat checks no rules. Check the recordings afterwards, with 'notify-demo check'."
            ),
            (isRepeated && Output.isStandardOutput(output), "--repeat makes several files. Name a directory with -o."),
            (isUseless, "there is an option about rules. Name a file of them with --check."),
            (check.contains("-"), "standard input belongs to the program. Name a file for --check."),
            (
                options.printsReport,
                "standard output belongs to the program. Name a file with --junit or --sarif."
            ),
            (
                isChecked && !Output.isRegular(output), "--check reads the recording, so -o must name a file."
            ),
        ] where isRefused { throw ValidationError(problem) }
        if isChecked {
            try Output.check(
                [("-o", output)] + options.outputs, inputs: check + [findings.accept].compactMap(\.self))
        }
    }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        if let repetitions { return try perform(atMost: repetitions, terminal) }
        // The rules are read first, so that an error is reported before the program runs.
        let prepared =
            check.isEmpty ? nil : try PreparedCheck(rulesIn: check, [], options, findings, annotations, terminal)
        let run = try RecordedProgram.run(command, recordingTo: output)
        let isPrinted = Output.isStandardOutput(output)
        report(run.files, in: isPrinted ? "standard output" : output, terminal)
        var checked = ExitStatus.success
        if let prepared {
            do {
                var recording = Recording(source: output)
                if run.files.size > 0 { recording = try RecordingFile.read(output, terminal) }
                checked = try prepared.perform(recording, path: output, terminal) { report in
                    for line in terminal.messagePalette.lines(of: report, on: .standardError) {
                        terminal.say(shown: line)
                    }
                }
            } catch {
                terminal.report("\(error)")
                checked = .error
            }
        }
        if run.files.size > 0, !isPrinted {
            terminal.say("Next: \(Invocation.name) diagnose\(RecordingFile.argument(output))")
        }
        switch run.end {
        case .exit(0), .timedOut: return run.files.isEmpty ? .error : checked
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
        if files.size == 0 {
            terminal.report(
                """
                \(command[0]) recorded nothing: it posts and observes no notifications, is linked statically, has rights \
                that its user does not have, or could not write its recording and said so.
                """)
        } else {
            let (posts, records) = (counted(files.posts, "post"), counted(files.records, "record"))
            let processes = files.processes == 1 ? "" : " of \(files.processes) processes"
            let size = files.size < 10_000 ? "\(files.size) bytes" : "\(files.size / 1000) kB"
            terminal.report("\(run)recorded \(posts) in \(records)\(processes), \(size), to \(destination)")
        }
        for reason in files.unrecorded.sorted() { terminal.report("not recorded: \(Excerpt.of(reason))") }
        if files.lacksSymbolizer {
            terminal.report(
                "the source locations of calls to Foundation are unknown: llvm-symbolizer, a part of Swift's toolchain, "
                    + "is neither in PATH nor beside swift")
        }
        for file in files.stillRecording {
            terminal.report("a process that \(command[0]) started still runs and records to \(file)")
        }
    }

    // MARK: Repeating

    /// Runs the program several times. A run is bad if its status is not 0.
    private func perform(atMost count: Int, _ terminal: Terminal) throws -> ExitStatus {
        let directory = try emptyDirectory()
        var (good, bad): ([String], [String]) = ([], [])
        defer {
            terminal.report("\(counted(good.count, "good run")), \(counted(bad.count, "bad run"))")
            if !good.isEmpty, !bad.isEmpty {
                let lists = [good, bad].map { $0.map(ShellText.path).joined(separator: " ") }
                terminal.say("Next: \(Invocation.name) compare --good \(lists[0]) --bad \(lists[1])")
            }
        }
        while good.count + bad.count < count, !untilFail || bad.isEmpty {
            let file = directory.appending("run-\(ProcessInfo.processInfo.processIdentifier).jsonl")
            let run = try RecordedProgram.run(command, recordingTo: file.string)
            if let request = run.request {
                // The run is neither good nor bad.
                unlink(file.string)
                throw ExitCode(128 + request)
            }
            let isGood = run.end == .exit(0)
            let name = isGood ? "good-\(good.count + 1)" : "bad-\(bad.count + 1)"
            let kept = directory.appending("\(name).jsonl").string
            report(run.files, in: kept, terminal, run: "run \(good.count + bad.count + 1) of \(count): \(run.end); ")
            if run.files.size == 0 { return .error }
            guard rename(file.string, kept) == 0 else {
                throw CommandError(
                    description: "cannot move \(file) to \(kept): \(Errno(rawValue: errno)). It has the recording.")
            }
            if isGood { good.append(kept) } else { bad.append(kept) }
        }
        return bad.isEmpty ? .success : .failed
    }

    /// The directory for the recordings. It has none of an earlier `--repeat`, which could be taken for some of this one.
    private func emptyDirectory() throws -> FilePath {
        let directory = output == RecordingFile.defaultPath ? "." : output
        var names: [String]
        do {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            names = try FileManager.default.contentsOfDirectory(atPath: directory)
        } catch {
            throw CommandError(
                description: "cannot keep recordings in \(directory): "
                    + "\(error.localizedDescription) With --repeat, -o names a directory.")
        }
        names = names.filter { $0.wholeMatch(of: /(good|bad)-[0-9]+\.jsonl/) != nil }.sorted()
        if let first = names.first {
            throw CommandError(
                description: "\(directory) has \(counted(names.count, "recording")) of an earlier --repeat, such "
                    + "as \(first). Remove them, or name another directory with -o.")
        }
        return FilePath(directory == "." ? "" : directory)
    }
}
