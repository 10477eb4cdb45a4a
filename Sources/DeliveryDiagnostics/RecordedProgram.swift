internal import Foundation
internal import Glibc
internal import SystemPackage
internal import ThreadedNotifications

/// A program that is run with its deliveries recorded, unchanged: the library in it asks its environment where to record to.
public struct RecordedProgram: Sendable {
    /// How the program ended.
    public enum End: Sendable, Hashable {
        case exit(Int32)
        case signal(Int32)
    }

    /// What came of it.
    public struct Outcome: Sendable {
        public var end: End
        /// How many processes recorded something: the program, and what it started or forked.
        public var processes: Int
        /// In bytes.
        public var size: Int
        /// Files that processes which the program started, and which have not ended, record to.
        public var underWay: [String]
        /// Files that other processes which the program started recorded to. Their records are not in the recording,
        /// since its first process has not ended.
        public var apart: [String]
    }

    /// The program's name, to be looked for in `PATH`, or its path.
    public var name: String
    public var arguments: [String]
    /// The recording, which is made or replaced when the program has ended; `-` is standard output.
    public var file: String

    public init(name: String, arguments: [String], file: String) {
        self.name = name
        self.arguments = arguments
        self.file = file
    }

    /// Runs it to its end, blocking the calling thread. A request to end is passed on.
    ///
    /// Input and output are this process's. If the recording goes to standard output, what the program prints there
    /// goes to standard error. If the program cannot be run, or nothing is recorded, the file stays as it was.
    /// A process that the program started, and that begins to record when the program has ended, is not recorded, and
    /// says so on its standard error.
    ///
    /// - Throws: `RecordedProgramError`.
    public func run() throws(RecordedProgramError) -> Outcome {
        let target = try RecordedFiles.Target(file)
        // Until all files are in their place, so that a request to end leaves nothing half done.
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
            end: end, processes: outcome.processes, size: outcome.size, underWay: outcome.underWay,
            apart: outcome.apart)
    }

    /// Not by Subprocess, which closes what this process has open besides: a program is recorded as a shell starts it.
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
        // As WIFSIGNALED, WTERMSIG and WEXITSTATUS have it.
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
        // Swift's runtime libraries ignore a closed pipe; the program is not to inherit it.
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

    /// This process's environment, byte by byte as it was given, and where to record to. Each ends with a zero.
    private static func environment(recording path: String) -> [[UInt8]] {
        let own = (try? Data(contentsOf: URL(filePath: "/proc/self/environ"))).map { Array($0) } ?? []
        let name = DeliveryRecording.environmentVariable
        let others = own.split(separator: 0).filter { !$0.starts(with: "\(name)=".utf8) }
        return others.map { Array($0) + [0] } + [Array("\(name)=\(path)".utf8) + [0]]
    }
}

/// Why a program was not run, or its recording is not whole.
public struct RecordedProgramError: Error, Sendable, CustomStringConvertible {
    /// What failed, on what and why.
    public var problem: String

    public var description: String { problem }
}
