import ArgumentParser
import ChildProcesses
import DeliveryDiagnostics

struct Record: Command {
    static let configuration = CommandConfiguration(
        abstract: "Run a program and record its deliveries to a file.",
        discussion: """
            The program needs no change: ThreadedNotifications, which it links, reads from the environment where to \
            record. Posts to Foundation's centers are recorded if a ThreadedNotificationCenter captures them. \
            Processes that the program starts or forks are recorded too. A program can also record itself with \
            ProcessRecording.start(to:). A program with rights that its user does not have, such as a set-user-id \
            program, records only itself.

            The file is written when the program has ended. If the program cannot be run, or nothing is recorded, the \
            file stays as it was. With -o - the recording is printed on standard output when the program has ended, \
            and the program's own standard output goes to standard error. If the recording cannot be written, it is \
            kept in a temporary file, which the message names.

            A process that begins to record after the program has ended reports an error. A process that still runs \
            then continues to record, and the message names its file.

            EXAMPLES
              notify-demo record -- ./my-program --its options
              notify-demo record -o run.jsonl -- ./my-program
              notify-demo record -o - -- ./my-program | notify-demo audit -

            EXIT STATUS
              that of the program; 128 plus the signal's number if a signal ended it; 2 if nothing was recorded
            """)

    @Option(
        name: .shortAndLong, help: "The file to record to, created or overwritten; - is standard output.",
        completion: .file(extensions: ["jsonl"]))
    var output = RecordingInput.defaultPath

    @Argument(
        parsing: .captureForPassthrough,
        help: ArgumentHelp("After --, the program and its arguments.", valueName: "program"),
        completion: .shellCommand("compgen -c"))
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
            let example = ["notify-demo record", "-o \(output)", "--"] + words
            throw ValidationError("the program must follow --: \(example.joined(separator: " "))")
        }
    }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        // The first word is --.
        let command = Array(words.dropFirst())
        let (end, files) = try RecordedProgram.run(command, recordingTo: output)
        if files.size == 0 {
            terminal.report(
                """
                \(command[0]) recorded nothing: it does not link ThreadedNotifications, posted nothing, or has rights \
                that its user does not have.
                """)
        } else {
            let processes = files.processes == 1 ? "" : " of \(files.processes) processes"
            let size = files.size < 10_000 ? "\(files.size) bytes" : "\(files.size / 1000) kB"
            let isPrinted = Output.isStandardOutput(output)
            let destination = isPrinted ? "standard output" : output
            terminal.report("recorded \(size)\(processes) to \(destination)")
            if !isPrinted { terminal.say("Next: notify-demo diagnose\(RecordingInput.argument(output))") }
        }
        for file in files.stillRecording {
            terminal.report("a process that \(command[0]) started still runs and records to \(file)")
        }
        switch end {
        case .exit(0), .timedOut: return files.size == 0 ? .error : .success
        case .exit(let code): throw ExitCode(code)
        case .signal(let signal):
            terminal.report("\(command[0]) was terminated by signal \(signal)")
            throw ExitCode(128 + signal)
        }
    }
}
