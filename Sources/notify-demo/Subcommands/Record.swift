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
            libnotification-recorder.so is preloaded into it. The library is found beside notify-demo, where it is \
            built, or in ../lib/notify-demo, where Scripts/install.sh puts it. What a program does with Foundation's \
            NotificationCenter and NotificationQueue is recorded, and every stage of a delivery of \
            ThreadedNotifications. Processes that the program starts or forks are recorded too. A program without \
            Foundation runs as it would alone. A program can also record itself with ProcessRecording.start(to:). \
            Nothing is preloaded into a program with rights that its user does not have, such as a set-user-id \
            program, or into one that is linked statically with the C library; they can only record themselves.

            The file is written when the program has ended. If the program cannot be run, or nothing is recorded, the \
            file stays as it was. With -o - the recording is printed on standard output when the program has ended, \
            and the program's own standard output goes to standard error. If the recording cannot be written, or \
            Ctrl-C, SIGTERM or SIGHUP interrupts that, it is kept in temporary files, which the message names. While \
            the program runs, SIGTERM and SIGHUP are passed on to it. If it could not record its end, the end is added.

            A process that begins to record after the program has ended reports an error. A process that still runs \
            then continues to record, and the message names its file.

            With --repeat the program runs several times. The recordings of the runs that end with status 0 are kept as \
            good-1.jsonl, good-2.jsonl and so on, and the others as bad-1.jsonl and so on, in the directory that -o \
            names, which must not have such files. If there are both, the message at the end has the command that finds \
            how the bad ones differ from the good ones. Ctrl-C, SIGTERM or SIGHUP end the repetition after the run.

            With --check, the rules of a file are checked when the program has ended, as by 'notify-demo check' with \
            the same options, and the results are printed on standard error, because standard output belongs to the \
            program. So --junit - and --sarif - are refused.

            EXAMPLES
              notify-demo record -- ./my-program --its options
              notify-demo record --check rules.txt -- ./my-program
              notify-demo record -o run.jsonl -- ./my-program
              notify-demo record -o - -- ./my-program | notify-demo stats -
              notify-demo record --repeat 50 --until-fail -- ./my-program

            EXIT STATUS
              that of the program; 128 plus the signal's number if a signal ended it; 2 if nothing was recorded; with \
            --check, 1 if the program's status is 0 and a rule fails, 64 if a rule cannot be read; with --repeat, 0 if \
            all runs are good, 1 if one is bad
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

    @OptionGroup(title: "Rules") var options: CheckOptions

    var color: ColorChoice { options.color }

    @Argument(
        parsing: .captureForPassthrough,
        help: ArgumentHelp("After --, the program and its arguments.", valueName: "program"),
        completion: .file())
    var words: [String] = []

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
        let files = check + options.rules
        if let repetitions {
            if repetitions < 1 { throw ValidationError("--repeat is \(repetitions); it must be 1 or more.") }
            if Output.isStandardOutput(output) {
                throw ValidationError("--repeat makes several files. Name a directory with -o.")
            }
            if !files.isEmpty || !options.rule.isEmpty {
                throw ValidationError(
                    "--repeat checks no rules. Check the recordings afterwards, with 'notify-demo check'.")
            }
        } else if untilFail {
            throw ValidationError("--until-fail needs --repeat with the largest number of runs.")
        }
        if files.isEmpty, options.rule.isEmpty {
            if let option = options.uselessWithoutRules.first {
                throw ValidationError("\(option) is about rules. Name a file of them with --check.")
            }
            return
        }
        if files.contains("-") {
            throw ValidationError("standard input belongs to the program. Name a file for --check.")
        }
        if let option = options.printingOptions.first {
            throw ValidationError(
                "standard output belongs to the program, so there is no \(option). "
                    + "Name a file with --junit or --sarif.")
        }
        if !Output.isRegular(output) {
            throw ValidationError("--check reads the recording, so -o must name a file.")
        }
        if files.contains(where: { Output.wouldOverwrite($0, byWriting: output) }) {
            throw ValidationError("the recording would overwrite the rules. Name another file with -o.")
        }
        if let (option, _) = options.outputs.first(where: { Output.isSameFile($0.path, output) }) {
            throw ValidationError("\(option) names the file of the recording. Name another file.")
        }
        try options.check(inputs: check)
    }

    /// The program and its arguments. The first word is --.
    private var command: [String] { Array(words.dropFirst()) }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        if let repetitions { return try perform(atMost: repetitions, terminal) }
        // The rules are read first, so that an error is reported before the program runs.
        let rules =
            check.isEmpty && options.rules.isEmpty && options.rule.isEmpty
            ? nil : try options.prepare(terminal, rulesIn: check)
        let run = try RecordedProgram.run(command, recordingTo: output)
        let (end, files) = (run.end, run.files)
        let isPrinted = Output.isStandardOutput(output)
        report(files, in: isPrinted ? "standard output" : output, terminal)
        let checked = rules.map { results(of: $0, isEmpty: files.size == 0, terminal) }
        if files.size > 0, !isPrinted {
            terminal.say("Next: \(Invocation.name) diagnose\(RecordingFile.argument(output))")
        }
        let status: ExitStatus = files.isEmpty ? .error : checked ?? .success
        switch end {
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
        if let problem = files.problem {
            terminal.report("\(command[0]) recorded nothing: it could not write its recording: \(problem).")
        } else if files.size == 0 {
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
        while good.count + bad.count < count, !untilFail || bad.isEmpty {
            let file = directory.appending("run-\(ProcessInfo.processInfo.processIdentifier).jsonl")
            let run = try RecordedProgram.run(command, recordingTo: file.string)
            if let request = run.request {
                // The run is neither good nor bad.
                unlink(file.string)
                report(comparing: good, bad, terminal)
                throw ExitCode(128 + request)
            }
            let (end, files) = (run.end, run.files)
            let name = end == .exit(0) ? "good-\(good.count + 1)" : "bad-\(bad.count + 1)"
            let kept = directory.appending("\(name).jsonl").string
            report(files, in: kept, terminal, run: "run \(good.count + bad.count + 1) of \(count): \(end); ")
            guard files.size > 0 else {
                report(comparing: good, bad, terminal)
                return .error
            }
            guard rename(file.string, kept) == 0 else {
                throw CommandError(
                    description: "cannot move \(file) to \(kept): \(Errno(rawValue: errno)). It has the recording.")
            }
            if end == .exit(0) { good.append(kept) } else { bad.append(kept) }
        }
        report(comparing: good, bad, terminal)
        return bad.isEmpty ? .success : .failed
    }

    private func report(comparing good: [String], _ bad: [String], _ terminal: Terminal) {
        terminal.report("\(counted(good.count, "good run")), \(counted(bad.count, "bad run"))")
        if good.isEmpty || bad.isEmpty { return }
        func list(_ files: [String]) -> String { files.map(ShellText.path).joined(separator: " ") }
        terminal.say("Next: \(Invocation.name) compare --good \(list(good)) --bad \(list(bad))")
    }

    /// The directory for the recordings. It has none of an earlier `--repeat`, which could be taken for some of this one.
    private func emptyDirectory() throws -> FilePath {
        let directory = output == RecordingFile.defaultPath ? "." : output
        do {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let earlier = try FileManager.default.contentsOfDirectory(atPath: directory)
                .filter { $0.wholeMatch(of: /(good|bad)-[0-9]+\.jsonl/) != nil }.sorted()
            if let first = earlier.first {
                throw CommandError(
                    description: "\(directory) has \(counted(earlier.count, "recording")) of an earlier --repeat, such "
                        + "as \(first). Remove them, or name another directory with -o.")
            }
        } catch let error as CommandError {
            throw error
        } catch {
            throw CommandError(
                description: "cannot keep recordings in \(directory): "
                    + "\(error.localizedDescription) With --repeat, -o names a directory.")
        }
        return FilePath(directory == "." ? "" : directory)
    }

    /// Checks the rules and prints the results on standard error.
    private func results(of rules: CheckOptions.Prepared, isEmpty: Bool, _ terminal: Terminal) -> ExitStatus {
        do {
            var recording = Recording(source: output)
            if !isEmpty { recording = try Recording(path: output) { terminal.show(progress: "\($0) records read") } }
            recording.reportProblems(on: terminal)
            return try rules.check(recording, path: output, terminal, areMessages: true)
        } catch {
            terminal.report("\(error)")
            return .error
        }
    }
}
