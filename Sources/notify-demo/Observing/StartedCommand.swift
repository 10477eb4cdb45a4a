import Foundation
import SystemPackage

/// A command that runs beside this process and shares its standard streams and terminal.
struct StartedCommand {
    enum End: Sendable, Hashable {
        case exit(Int32)
        case signal(Int32)
    }

    /// - Parameter ended: called on a thread of its own when the command has ended.
    /// - Throws: `StartedCommandError`.
    static func start(_ words: [String], ended: @escaping @Sendable (End) -> Void) throws {
        var process: pid_t = 0
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var defaults = sigset_t()
        sigemptyset(&defaults)
        // Swift's runtime ignores SIGPIPE. The command must not inherit that.
        sigaddset(&defaults, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
        var arguments = words.map { strdup($0) } + [nil]
        // Copies the environment byte by byte, because it need not be UTF-8.
        let own = try Data(contentsOf: URL(filePath: "/proc/self/environ"))
        var environment: [UnsafeMutablePointer<CChar>?] = own.split(separator: 0).map { entry in
            (Array(entry) + [0]).withUnsafeBytes { strdup($0.baseAddress!.assumingMemoryBound(to: CChar.self)) }
        }
        environment.append(nil)
        defer { for string in arguments + environment { free(string) } }
        let result = posix_spawnp(&process, words[0], nil, &attributes, &arguments, &environment)
        guard result == 0 else { throw StartedCommandError(name: words[0], problem: "\(Errno(rawValue: result))") }
        Thread.detachNewThread { [process] in
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0 { guard errno == EINTR else { return } }
            // WIFSIGNALED, WTERMSIG and WEXITSTATUS are macros that Swift does not import.
            let signal = status & 0x7F
            ended(signal == 0 ? .exit(status >> 8 & 0xFF) : .signal(signal))
        }
    }
}

/// A command could not be started.
struct StartedCommandError: Error, CustomStringConvertible {
    var name: String
    var problem: String

    var description: String { "cannot run \(name): \(problem)." }
}
