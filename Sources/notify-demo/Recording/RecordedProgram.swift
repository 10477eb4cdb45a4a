import ChildProcesses
import DeliveryRecording
import Foundation
import ThreadedNotifications

/// Runs an unmodified program and records its deliveries. The recorder, which is preloaded into it, reads the path of
/// the recording from the environment.
enum RecordedProgram {
    struct Run {
        var end: ChildProcess.End
        var files: RecordedFiles.Outcome
        /// The request to end that this process got by then.
        var request: Int32?
    }

    /// The program that runs, and the last request to end.
    private static let running = Locked<(program: ChildProcess?, request: Int32?)>((nil, nil))

    /// Requests to end are for the program, so that this process can report how it ended. Without one, the second
    /// request ends this process: the first may have come while the program ended because of it.
    private static let passesRequests: Void = EndRequests.take([SIGINT, SIGQUIT, SIGTERM, SIGHUP]) { number in
        running.withLock { running in
            if running.program == nil, running.request != nil { _exit(128 + number) }
            running.request = number
            // A terminal sends its signals to the program too.
            if number == SIGTERM || number == SIGHUP { running.program?.kill(number) }
        }
    }

    /// Runs the program and waits until it ends.
    ///
    /// - Parameters:
    ///   - command: the program's path, or its name, which is searched in `PATH`; and its arguments.
    ///   - file: the path of the recording; `-` is standard output.
    ///   - timeout: after which the program is killed.
    static func run(
        _ command: [String], recordingTo file: String, timeout: Duration = ChildProcess.unlimited
    ) throws -> Run {
        let others = ProcessInfo.processInfo.environment["LD_PRELOAD"].map { ":\($0)" } ?? ""
        let library = try library()
        passesRequests
        let files = try RecordedFiles(for: file)
        let program = ChildProgram(
            path: command[0], arguments: Array(command.dropFirst()),
            environment: [ProcessRecording.environmentVariable: files.path, "LD_PRELOAD": library + others])
        do {
            let output = Output.isStandardOutput(file) ? ChildProgram.Stream.descriptor(STDERR_FILENO) : .inherited
            let process = try running.withLock { running in
                let process = try program.start(output: output)
                running.program = process
                if let request = running.request { process.kill(request) }
                return process
            }
            let end = process.wait(timeout: timeout)
            let request = running.withLock { running in
                running.program = nil
                return running.request
            }
            return Run(end: end, files: try files.finish(program: process.id, end), request: request)
        } catch let error as ChildProcessError {
            files.discard()
            throw error
        }
    }

    /// The path of the library that is preloaded: in the directory of the program, where it was built, or in
    /// `lib/notify-demo`, where `install.sh` puts it.
    static func library() throws(CommandError) -> String {
        let name = "libnotification-recorder.so"
        let program = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
        let directory = program.resolvingSymlinksInPath().deletingLastPathComponent()
        let candidates = [
            directory.appending(component: name).path,
            directory.deletingLastPathComponent().appending(path: "lib/notify-demo/\(name)").path,
        ]
        // The dynamic linker separates paths at spaces and colons.
        let found = candidates.first { FileManager.default.isReadableFile(atPath: $0) && !$0.contains(/[ :]/) }
        if let found { return found }
        throw CommandError(
            description:
                "cannot record: \(name) is neither at \(candidates.joined(separator: " nor at ")), or the path "
                + "has a space or a colon, so that it cannot be preloaded. Build it with 'swift build --product "
                + "notification-recorder', or run Scripts/install.sh again.")
    }
}
