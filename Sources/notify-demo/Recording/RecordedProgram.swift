import ChildProcesses
import DeliveryRecording
import Foundation
import ThreadedNotifications

/// Runs an unmodified program and records its deliveries. The library in the program reads the recording's path from
/// the environment.
enum RecordedProgram {
    /// Requests to end, for a program that is about to start or runs.
    private struct Requests {
        var program: ChildProcess?
        var waiting: [Int32] = []
    }

    /// Runs the program and blocks the calling thread until it ends. Passes requests to end on to the program, so that
    /// this process can report how the program ended.
    ///
    /// The program uses this process's input and output. If the recording goes to standard output, the program's own
    /// standard output goes to standard error. If the program cannot be run, or nothing is recorded, an existing file
    /// is unchanged. A child process of the program that starts to record after the program has ended is not recorded,
    /// and reports that on its standard error.
    ///
    /// - Parameters:
    ///   - command: the program's path, or its name, which is searched in `PATH`; and its arguments.
    ///   - file: the path of the recording; `-` is standard output.
    /// - Throws: `CommandError`, `ChildProcessError`.
    static func run(
        _ command: [String], recordingTo file: String
    ) throws -> (end: ChildProcess.End, files: RecordedFiles.Outcome) {
        let requests = Locked(Requests())
        try EndRequests.handle { signal in
            // A terminal sends its signals to the program too.
            guard signal == SIGTERM || signal == SIGHUP else { return }
            let program = requests.withLock { requests in
                if requests.program == nil { requests.waiting.append(signal) }
                return requests.program
            }
            program?.kill(signal)
        }
        defer { EndRequests.stop() }
        let files = try RecordedFiles(for: file)
        let end: ChildProcess.End
        do {
            let program = try ChildProgram(
                path: command[0], arguments: Array(command.dropFirst()),
                environment: [ProcessRecording.environmentVariable: files.path]
            ).start(output: Output.isStandardOutput(file) ? .descriptor(STDERR_FILENO) : .inherited)
            let waiting = requests.withLock { requests in
                requests.program = program
                return requests.waiting
            }
            for signal in waiting { program.kill(signal) }
            end = program.wait()
        } catch {
            files.discard()
            throw error
        }
        EndRequests.stop()
        return (end, try files.finish())
    }
}
