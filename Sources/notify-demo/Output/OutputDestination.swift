import Glibc
import SystemPackage

/// How an output is written, depending on its path.
enum OutputDestination: Hashable {
    /// A file that is already open as standard output or standard error. It is written directly.
    case openFile(FileDescriptor)
    /// A file that cannot be replaced, such as a FIFO or a device. It is opened and written directly.
    case stream(path: String)
    /// A regular file, or no file yet, at a path that is not a symbolic link. It is replaced by the complete output.
    case file(path: String)

    /// - Parameter path: the user's path; `-` is standard output. A directory, or a path that cannot be
    ///   examined, becomes a `file`, which then fails to open.
    init(_ path: String) {
        if path == "-" {
            self = .openFile(.standardOutput)
            return
        }
        guard let found = try? FilePath(path).stat() else {
            self = .file(path: Self.resolved(path) ?? path)
            return
        }
        // For example /dev/stdout. Replacing the file would detach it from the program that reads this process's
        // output.
        let open = [FileDescriptor.standardOutput, .standardError].first { found.isSameFile(as: try? $0.stat()) }
        if let open {
            self = .openFile(open)
        } else if found.type == .regular || found.type == .directory, let resolved = Self.resolved(path) {
            self = .file(path: resolved)
        } else {
            self = .stream(path: path)
        }
    }

    /// True for `-`, `/dev/stdout`, and the file that standard output is redirected to.
    var isStandardOutput: Bool { self == .openFile(.standardOutput) }

    /// Resolves the symbolic links at the end of a path.
    ///
    /// - Returns: nil for a link of the proc file system, which stands for an open file and not for a path.
    private static func resolved(_ path: String) -> String? {
        var path = FilePath(path)
        // The kernel's limit.
        for _ in 1...40 {
            var target = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
            guard readlink(path.string, &target, Int(PATH_MAX)) > 0 else { break }
            let directory = path.removingLastComponent()
            if isInProc(directory.isEmpty ? "." : directory.string) { return nil }
            path = directory.pushing(FilePath(platformString: target))
        }
        return path.string
    }

    private static func isInProc(_ directory: String) -> Bool {
        guard let real = realpath(directory, nil) else { return false }
        defer { free(real) }
        return String(cString: real).hasPrefix("/proc/")
    }

    /// True if writing an output would replace an input: both are the same regular file.
    ///
    /// - Parameters:
    ///   - input: the user's path; `-` is standard input.
    ///   - output: the user's path; `-` is standard output.
    static func wouldReplace(_ input: String, byWriting output: String) -> Bool {
        guard output != "-", let written = try? FilePath(output).stat(), written.type == .regular else { return false }
        return written.isSameFile(as: try? input == "-" ? FileDescriptor.standardInput.stat() : FilePath(input).stat())
    }
}
