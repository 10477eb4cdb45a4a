import ChildProcesses
import DeliveryRecording
import Foundation
import ThreadedNotifications

/// Runs an unmodified program and records its deliveries. The library in the program reads the recording's path from
/// the environment.
struct RecordedProgram {
    struct Outcome {
        var end: ChildProcess.End
        var files: RecordedFiles.Outcome
    }

    /// Requests to end, for a program that is about to start or runs.
    private struct Requests {
        var program: ChildProcess?
        var waiting: [Int32] = []
    }

    /// The program's path, or its name, which is searched in `PATH`.
    var name: String
    var arguments: [String]
    /// The path of the recording. It is created or replaced when the program has ended; `-` is standard output.
    var file: String

    /// Runs the program and blocks the calling thread until it ends. Passes requests to end on to the program, so that
    /// this process can report how the program ended.
    ///
    /// The program uses this process's input and output. If the recording goes to standard output, the program's own
    /// standard output goes to standard error. If the program cannot be run, or nothing is recorded, an existing file
    /// is unchanged. A child process of the program that starts to record after the program has ended is not recorded,
    /// and reports that on its standard error.
    ///
    /// - Throws: `RecordedProgramError`, `ChildProcessError`.
    func run() throws -> Outcome {
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
                path: name, arguments: arguments, environment: [ProcessRecording.environmentVariable: files.path]
            ).start(output: OutputDestination(file).isStandardOutput ? .descriptor(STDERR_FILENO) : .inherited)
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
        return Outcome(end: end, files: try files.finish())
    }
}

/// A recording that cannot be written, or is incomplete.
struct RecordedProgramError: Error, CustomStringConvertible {
    /// The failure, with its file and cause.
    var problem: String

    var description: String { problem }
}
