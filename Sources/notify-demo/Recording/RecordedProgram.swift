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
        /// The request to end that this process got meanwhile.
        var request: Int32?
    }

    /// Runs the program on the main thread and waits until it ends. Passes requests to end on to the program, so that
    /// this process can report how the program ended.
    ///
    /// - Parameters:
    ///   - command: the program's path, or its name, which is searched in `PATH`; and its arguments.
    ///   - file: the path of the recording; `-` is standard output.
    ///   - timeout: after which the program is killed; by default, it may run as long as it does.
    /// - Throws: `CommandError`, `ChildProcessError`.
    static func run(
        _ command: [String], recordingTo file: String, timeout: Duration = ChildProcess.unlimited
    ) throws -> Run {
        let others = ProcessInfo.processInfo.environment["LD_PRELOAD"].map { ":\($0)" } ?? ""
        let library = try library()
        let files = try RecordedFiles(for: file)
        let program = ChildProgram(
            path: command[0], arguments: Array(command.dropFirst()),
            environment: [ProcessRecording.environmentVariable: files.path, "LD_PRELOAD": library + others])
        let process: ChildProcess
        do {
            process = try program.start(output: Output.isStandardOutput(file) ? .descriptor(STDERR_FILENO) : .inherited)
        } catch {
            files.discard()
            throw error
        }
        var request: Int32?
        let end = try EndRequests.taking([SIGINT, SIGQUIT, SIGTERM, SIGHUP]) { number in
            request = number
            // A terminal sends its signals to the program too.
            if number == SIGTERM || number == SIGHUP { process.kill(number) }
        } during: {
            process.wait(timeout: timeout)
        }
        return Run(end: end, files: try files.finish(program: process.id, end), request: request)
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
