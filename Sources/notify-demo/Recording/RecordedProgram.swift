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
        let preloading = try RecorderLibrary.preloading()
        let files = try RecordedFiles(for: file)
        let program = ChildProgram(
            path: command[0], arguments: Array(command.dropFirst()),
            environment: [ProcessRecording.environmentVariable: files.path, preloading.name: preloading.value])
        let isPrinted = Output.isStandardOutput(file)
        let state = Locked<(program: ChildProcess?, request: Int32?)>((nil, nil))
        let (id, end): (Int32, ChildProcess.End)
        do {
            (id, end) = try EndRequests.taking([SIGINT, SIGQUIT, SIGTERM, SIGHUP]) { number in
                let running = state.withLock { state in
                    state.request = number
                    return state.program
                }
                // A terminal sends its signals to the program too.
                if number == SIGTERM || number == SIGHUP { running?.kill(number) }
                return true
            } during: {
                let running = try program.start(output: isPrinted ? .descriptor(STDERR_FILENO) : .inherited)
                state.withLock { $0.program = running }
                return (running.id, running.wait(timeout: timeout))
            }
        } catch {
            files.discard()
            throw error
        }
        return Run(end: end, files: try files.finish(program: id, end), request: state.withLock(\.request))
    }
}
