internal import CLinux
internal import Foundation
internal import ThreadedNotifications

/// A program to run as a child process. This is the package's one way to run a program.
///
/// Threads: every method may be called on any thread. A method that waits blocks the calling thread and uses no Swift
/// concurrency, so tests may wait on threads of the cooperative pool.
package struct ChildProgram: Sendable, Hashable {
    /// The executable file, or a name that is searched in `PATH`.
    package var path: String
    package var arguments: [String]
    /// Variables that are set in the child, or removed if nil. The child inherits all others unchanged.
    package var environment: [String: String?]

    package init(path: String, arguments: [String] = [], environment: [String: String?] = [:]) {
        self.path = path
        self.arguments = arguments
        self.environment = environment
    }

    /// This process's own program. If it crashes, it prints no backtrace, because the backtracer may hang.
    package static func own(_ arguments: [String] = []) -> ChildProgram {
        ChildProgram(
            path: Bundle.main.executablePath ?? CommandLine.arguments[0], arguments: arguments,
            environment: ["SWIFT_BACKTRACE": "enable=no"])
    }

    /// The result of a program that has ended.
    package struct Result: Sendable, Hashable {
        package var processID: Int32
        package var end: ChildProcess.End
        package var output: String
        package var errors: String
    }

    /// Runs the program until it ends, and kills it after `timeout`.
    ///
    /// - Parameters:
    ///   - more: arguments that follow the program's own.
    ///   - input: the contents of its standard input.
    package func run(_ more: [String] = [], input: [UInt8] = [], timeout: Duration) throws -> Result {
        // Files in memory, so that neither process waits for the other, nor this one for those that the program starts.
        let files = try [input, [], []].map { bytes in
            let file = FileHandle(fileDescriptor: CLinuxOpenMemoryFile(), closeOnDealloc: true)
            try file.write(contentsOf: Data(bytes))
            try file.seek(toOffset: 0)
            return file
        }
        let streams = files.map { Stream.descriptor($0.fileDescriptor) }
        let process = try start(more, input: streams[0], output: streams[1], errors: streams[2])
        let end = process.wait(timeout: timeout)
        let texts = try files.map { file in
            let path = URL(filePath: "/proc/self/fd/\(file.fileDescriptor)")
            return String(decoding: try Data(contentsOf: path), as: UTF8.self)
        }
        return Result(processID: process.id, end: end, output: texts[1], errors: texts[2])
    }

    /// The other end of a standard stream of a child.
    package enum Stream: Sendable, Hashable {
        /// The same as this process's.
        case inherited
        /// This process, which writes the input and reads the output through `ChildProcess`.
        case piped
        /// A descriptor of this process.
        case descriptor(Int32)
    }

    /// Starts the program. The child is killed when the returned value is released before it has ended.
    package func start(
        _ more: [String] = [], input: Stream = .inherited, output: Stream = .inherited, errors: Stream = .inherited
    ) throws(ChildProcessError) -> ChildProcess {
        var ends: [Int32] = [-1, -1]
        if [input, output, errors].contains(.piped) {
            // A write to a pipe that has no reader would raise SIGPIPE.
            let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw .cannotRun(path, errno) }
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // The numbers 0 to 2 are overwritten one after the other, so the descriptors must have higher ones.
        let sources = [input, output, errors].map { (stream) -> Int32 in
            switch stream {
            case .inherited: return -1
            case .piped: return fcntl(ends[1], F_DUPFD_CLOEXEC, 3)
            case .descriptor(let descriptor): return fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
            }
        }
        defer { for descriptor in sources + ends[1...] where descriptor >= 0 { close(descriptor) } }
        for (number, source) in zip(Int32(0)..., sources) where source >= 0 {
            posix_spawn_file_actions_adddup2(&actions, source, number)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        // Dispatch's threads block most signals, and a child inherits that of the thread that starts it.
        posix_spawnattr_setsigmask(&attributes, &signals)
        // Swift's runtime libraries ignore SIGPIPE.
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))

        let all = (ProcessInfo.processInfo.environment as [String: String?]).merging(environment) { $1 }
        var variables = all.compactMap { name, value in value.map { strdup("\(name)=\($0)") } } + [nil]
        var words = ([path] + arguments + more).map { strdup($0) } + [nil]
        defer { for string in variables + words { free(string) } }
        var id: pid_t = 0
        let error = posix_spawnp(&id, path, &actions, &attributes, &words, &variables)
        if error != 0 {
            close(ends[0])
            throw .cannotRun(path, error)
        }
        return try ChildProcess(id, socket: ends[0])
    }
}
