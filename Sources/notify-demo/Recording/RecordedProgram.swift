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

    /// Runs the program and blocks the calling thread until it ends. Passes requests to end on to the program, so that
    /// this process can report how the program ended. The help of `record` tells what happens to its files and output.
    ///
    /// - Parameters:
    ///   - command: the program's path, or its name, which is searched in `PATH`; and its arguments.
    ///   - file: the path of the recording; `-` is standard output.
    ///   - timeout: after which the program is killed; by default, it may run as long as it does.
    /// - Throws: `CommandError`, `ChildProcessError`.
    static func run(
        _ command: [String], recordingTo file: String, timeout: Duration = ChildProcess.unlimited
    ) throws -> Run {
        // Requests to end wait until the program has started.
        let requests = Locked<(program: ChildProcess?, waiting: [Int32], last: Int32?)>((nil, [], nil))
        try EndRequests.handle { signal in
            requests.withLock { $0.last = signal }
            // A terminal sends its signals to the program too.
            guard signal == SIGTERM || signal == SIGHUP else { return }
            let program = requests.withLock { requests in
                if requests.program == nil { requests.waiting.append(signal) }
                return requests.program
            }
            program?.kill(signal)
        }
        defer { EndRequests.stop() }
        let preloading = try RecorderLibrary.preloading()
        let files = try RecordedFiles(for: file)
        let (id, end): (Int32, ChildProcess.End)
        do {
            let program = try ChildProgram(
                path: command[0], arguments: Array(command.dropFirst()),
                environment: [
                    ProcessRecording.environmentVariable: files.path, preloading.name: preloading.value,
                ]
            ).start(output: Output.isStandardOutput(file) ? .descriptor(STDERR_FILENO) : .inherited)
            let waiting = requests.withLock { requests in
                requests.program = program
                return requests.waiting
            }
            for signal in waiting { program.kill(signal) }
            (id, end) = (program.id, program.wait(timeout: timeout))
        } catch {
            files.discard()
            throw error
        }
        return Run(end: end, files: try files.finish(program: id, end), request: requests.withLock(\.last))
    }
}
