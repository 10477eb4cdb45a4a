internal import Dispatch
internal import Subprocess
internal import SystemPackage
internal import ThreadedNotifications

/// A program to start again in a process of its own, for what a process does not survive.
public struct ChildProgram: Sendable, Hashable {
    /// The executable file.
    public var path: String
    /// What comes before the scenario's arguments.
    public var arguments: [String]

    public init(path: String, arguments: [String] = []) {
        self.path = path
        self.arguments = arguments
    }

    /// How a process ended, and what it wrote.
    struct Result: Sendable {
        enum End: Sendable, Hashable {
            case exit(Int32)
            case signal(Int32)
        }
        var processID: Int32
        var end: End
        var output: String
        var errors: String
    }

    /// Runs the program to its end, blocking the calling thread; it is killed when the limit has passed.
    func run(_ more: [String], limit: Duration) throws(ScenarioError) -> Result {
        let outcome = Locked<Swift.Result<Result, ScenarioError>?>(nil)
        let ended = Gate("a second process")
        let arguments = Arguments(arguments + more)
        let executable = Executable.path(FilePath(path))
        // Subprocess is asynchronous only, and a scenario is synchronous: it runs on the main thread.
        let task = Task.detached { @Sendable in
            let result: Swift.Result<Result, ScenarioError>
            do {
                let run = try await Subprocess.run(
                    executable, arguments: arguments,
                    // The backtracer of a crashed process may hang, and would hold its output open.
                    environment: .inherit.updating(["SWIFT_BACKTRACE": "enable=no"]),
                    output: .string(limit: 1 << 20), error: .string(limit: 1 << 20))
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
            try ended.wait(limit: limit)
        } catch {
            // Cancelling kills the process, soon: its end is waited for, so that it does not outlive this one.
            task.cancel()
            try? ended.wait(limit: .seconds(5))
            throw error
        }
        guard let result = outcome.withLock({ $0 }) else { throw .child(problem: "ended without a result") }
        return try result.get()
    }

    /// The records that a process wrote.
    static func records(in output: [UInt8]) throws(ScenarioError) -> [DeliveryRecord] {
        let recording: Recording
        do throws(LogError) {
            recording = try Recording(bytes: output, name: "its output")
        } catch {
            throw .child(problem: "wrote what is no record: \(error)")
        }
        if let problem = recording.problems.first { throw .child(problem: "\(problem)") }
        return recording.records
    }
}
