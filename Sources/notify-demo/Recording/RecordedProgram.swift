import DeliveryRecording
import Foundation
import Glibc
import SystemPackage
import ThreadedNotifications

/// Runs an unmodified program and records its deliveries. The library in the program reads the recording's path from
/// the environment.
struct RecordedProgram: Sendable {
    /// How the program ended.
    enum End: Sendable, Hashable {
        case exit(Int32)
        case signal(Int32)
    }

    /// The result of a run.
    struct Outcome: Sendable {
        var end: End
        /// The number of processes that recorded something: the program, and processes that it started or forked.
        var processes: Int
        /// In bytes.
        var size: Int
        /// Files of processes that the program started and that have not ended.
        var stillRecording: [String]
        /// Files of other processes that have ended. Their records are not in the recording because its first process
        /// has not ended.
        var unmerged: [String]
    }

    /// The program's path, or its name, which is searched in `PATH`.
    var name: String
    var arguments: [String]
    /// The path of the recording. It is created or replaced when the program has ended; `-` is standard output.
    var file: String

    /// Runs the program and blocks the calling thread until it ends. Forwards requests to end.
    ///
    /// The program uses this process's input and output. If the recording goes to standard output, the program's own
    /// standard output goes to standard error. If the program cannot be run, or nothing is recorded, an existing file
    /// is unchanged. A child process of the program that starts to record after the program has ended is not recorded,
    /// and reports that on its standard error.
    ///
    /// - Throws: `RecordedProgramError`.
    func run() throws(RecordedProgramError) -> Outcome {
        let target = try RecordedFiles.Target(file)
        // Stays active until all files are in place, so that a request to end does not interrupt this.
        let requests = EndRequests()
        defer { requests.end() }
        let files = try RecordedFiles(for: target)
        let end: End
        do throws(RecordedProgramError) {
            end = try start(files, target, requests)
        } catch {
            files.discard()
            throw error
        }
        let outcome = try files.finish { requests.end() }
        return Outcome(
            end: end, processes: outcome.processes, size: outcome.size, stillRecording: outcome.stillRecording,
            unmerged: outcome.unmerged)
    }

    /// Not with Subprocess, which closes inherited descriptors: the program must start as from a shell.
    private func start(_ files: RecordedFiles, _ target: RecordedFiles.Target, _ requests: EndRequests)
        throws(RecordedProgramError) -> End
    {
        var process: pid_t = 0
        let result = spawn(files, target, &process, requests)
        guard result == 0 else {
            throw RecordedProgramError(problem: "cannot run \(name): \(Errno(rawValue: result)).")
        }
        requests.passOn(to: process)
        defer { requests.passOnNothing() }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else {
                throw RecordedProgramError(problem: "cannot wait for \(name): \(Errno(rawValue: errno)).")
            }
        }
        // As WIFSIGNALED, WTERMSIG and WEXITSTATUS do.
        let signal = status & 0x7F
        return signal == 0 ? .exit(status >> 8 & 0xFF) : .signal(signal)
    }

    /// - Returns: the system's error number, or 0.
    private func spawn(
        _ files: RecordedFiles, _ target: RecordedFiles.Target, _ process: inout pid_t, _ requests: EndRequests
    ) -> Int32 {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var defaults = sigset_t()
        sigemptyset(&defaults)
        // Swift's runtime libraries ignore SIGPIPE. The program must not inherit that.
        for signal in requests.changed + [SIGPIPE] { sigaddset(&defaults, signal) }
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if target.isStandardOutput { posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO) }
        var arguments = ([name] + arguments).map { strdup($0) } + [nil]
        var environment =
            Self.environment(recording: files.path).map { bytes in
                bytes.withUnsafeBufferPointer {
                    strdup(UnsafeRawPointer($0.baseAddress!).assumingMemoryBound(to: CChar.self))
                }
            } + [nil]
        defer { for string in arguments + environment { free(string) } }
        return posix_spawnp(&process, name, &actions, &attributes, &arguments, &environment)
    }

    /// This process's environment, unchanged, and the path of the recording. Each string ends with a zero.
    private static func environment(recording path: String) -> [[UInt8]] {
        let own = (try? Data(contentsOf: URL(filePath: "/proc/self/environ"))).map { Array($0) } ?? []
        let name = ProcessRecording.environmentVariable
        let others = own.split(separator: 0).filter { !$0.starts(with: "\(name)=".utf8) }
        return others.map { Array($0) + [0] } + [Array("\(name)=\(path)".utf8) + [0]]
    }
}

/// A program that could not be run, or a recording that is incomplete.
struct RecordedProgramError: Error, Sendable, CustomStringConvertible {
    /// What failed, for which file or program, and why.
    var problem: String

    var description: String { problem }
}
