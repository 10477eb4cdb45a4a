internal import DeliveryRecording
internal import Dispatch
internal import Subprocess
internal import SystemPackage
internal import ThreadedNotifications

/// A program that a scenario starts as a separate process, for actions that end a process.
package struct ChildProgram: Sendable, Hashable {
    /// The executable file.
    package var path: String
    /// The arguments before the scenario's arguments.
    package var arguments: [String]

    package init(path: String, arguments: [String] = []) {
        self.path = path
        self.arguments = arguments
    }

    /// How a process ended, and its output.
    package struct Result: Sendable {
        package enum End: Sendable, Hashable {
            case exit(Int32)
            case signal(Int32)
        }
        package var processID: Int32
        package var end: End
        package var output: String
        package var errors: String
    }

    /// Runs the program and blocks the calling thread until it ends. Kills it after `timeout`.
    ///
    /// - Parameter input: the bytes of its standard input.
    package func run(
        _ more: [String], input: [UInt8] = [], timeout: Duration
    ) throws(ScenarioError) -> Result {
        let outcome = Locked<Swift.Result<Result, ScenarioError>?>(nil)
        let ended = Gate("a second process")
        let arguments = Arguments(arguments + more)
        let executable = Executable.path(FilePath(path))
        // Subprocess is only asynchronous, and scenarios are synchronous because they use the main thread.
        let task = Task.detached { @Sendable in
            let result: Swift.Result<Result, ScenarioError>
            do {
                let run = try await Subprocess.run(
                    executable, arguments: arguments,
                    // The backtracer of a crashed process may hang and keep its output open.
                    environment: .inherit.updating(["SWIFT_BACKTRACE": "enable=no"]),
                    input: .array(input), output: .string(limit: 1 << 20), error: .string(limit: 1 << 20))
                let end: Result.End =
                    switch run.terminationStatus {
                    case .exited(let code): .exit(code)
                    case .signaled(let signal): .signal(signal)
                    }
                result = .success(
                    Result(
                        processID: run.processIdentifier.value, end: end, output: run.standardOutput,
                        errors: run.standardError))
            } catch {
                result = .failure(.child(problem: "\(error)"))
            }
            outcome.withLock { $0 = result }
            ended.open()
        }
        do throws(ScenarioError) {
            try ended.wait(timeout: timeout)
        } catch {
            // Cancelling kills the process asynchronously. Wait for its end, so that it does not outlive this process.
            task.cancel()
            try? ended.wait(timeout: .seconds(5))
            throw error
        }
        guard let result = outcome.withLock({ $0 }) else { throw .child(problem: "ended without a result") }
        return try result.get()
    }

    /// Parses the records in a process's output.
    static func records(in output: [UInt8]) throws(ScenarioError) -> [DeliveryRecord] {
        let recording: Recording
        do throws(LogError) {
            recording = try Recording(bytes: output, name: "its output")
        } catch {
            throw .child(problem: "its output is not a recording: \(error)")
        }
        if let problem = recording.problems.first { throw .child(problem: "\(problem)") }
        return recording.records
    }
}
