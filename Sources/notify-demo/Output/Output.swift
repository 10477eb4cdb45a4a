import DeliveryDiagnostics
import Foundation
import SystemPackage
import TerminalText

/// The data that a command writes: to standard output, or to a file.
///
/// A file is written in place when the output is complete, so it keeps its owner, permissions and links. Until then,
/// and if the output does not fit, it stays as it was. An interruption while it is written leaves it incomplete.
/// Standard output is written directly.
///
/// Threads: one at a time.
final class Output {
    /// The user's path.
    private let path: String
    /// What is written to; nil for a file until the output is complete.
    private var descriptor: FileDescriptor?
    private var unwritten: [UInt8] = []
    private(set) var hasWritten = false
    /// True if the reader of a pipe has ended. What is written later is discarded.
    private(set) var isClosed = false
    private var isFinished = false
    /// For a standard stream of a job.
    private var neutralizer: WorkflowCommands.Neutralizer?
    /// The number of bytes written.
    private var size = 0

    /// - Throws: `OutputError` if the file cannot be written.
    init(_ path: String) throws(OutputError) {
        self.path = path
        descriptor = Self.openDescriptor(path)
        if Workflow.isRunning, descriptor != nil { neutralizer = WorkflowCommands.Neutralizer() }
        if descriptor == nil, let problem = Self.problem(path) {
            throw OutputError(path: path, problem: "\(problem)")
        }
    }

    var isStandardOutput: Bool { descriptor == .standardOutput }

    /// True for `-`, `/dev/stdout`, and the file that standard output is redirected to.
    static func isStandardOutput(_ path: String) -> Bool { openDescriptor(path) == .standardOutput }

    /// True if the path names a regular file, or no file yet.
    static func isRegular(_ path: String) -> Bool {
        openDescriptor(path) == nil && (try? FilePath(path).stat()).map { $0.type == .regular } ?? true
    }

    /// True if writing an output would overwrite an input: both are the same regular file. `-` is standard input or
    /// output.
    static func wouldOverwrite(_ input: String, byWriting output: String) -> Bool {
        guard output != "-", let written = try? FilePath(output).stat(), written.type == .regular else { return false }
        return written.isSameFile(as: try? input == "-" ? FileDescriptor.standardInput.stat() : FilePath(input).stat())
    }

    /// True if two paths name the same file, which need not exist.
    static func isSameFile(_ one: String, _ other: String) -> Bool {
        func path(_ path: String) -> String { URL(filePath: path).standardizedFileURL.resolvingSymlinksInPath().path }
        return path(one) == path(other)
    }

    /// Standard output or standard error, if the path names its file. Opening the file again would write at its
    /// beginning.
    private static func openDescriptor(_ path: String) -> FileDescriptor? {
        if path == "-" { return .standardOutput }
        guard let found = try? FilePath(path).stat() else { return nil }
        return [FileDescriptor.standardOutput, .standardError].first { found.isSameFile(as: try? $0.stat()) }
    }

    /// Why a file cannot be written, or created.
    private static func problem(_ path: String) -> Errno? {
        if path.isEmpty { return .noSuchFileOrDirectory }
        let found = try? FilePath(path).stat()
        if found?.type == .directory { return .isDirectory }
        let directory = FilePath(path).removingLastComponent()
        let mode = found == nil ? W_OK | X_OK : W_OK
        let written = found != nil ? path : directory.isEmpty ? "." : directory.string
        return access(written, mode) == 0 ? nil : Errno(rawValue: errno)
    }

    /// Writes a line. Data is written when there are 64 KiB, and by `flush()`.
    func print(_ line: String) throws(OutputError) {
        unwritten += line.utf8
        try write([UInt8(ascii: "\n")])
    }

    /// Writes data with its own newlines.
    func write(_ bytes: some Collection<UInt8>) throws(OutputError) {
        if isClosed { return }
        unwritten += bytes
        if unwritten.count >= 1 << 16 { try flush() }
    }

    func flush() throws(OutputError) {
        guard let descriptor else { return }
        hasWritten = hasWritten || !unwritten.isEmpty
        defer { unwritten.removeAll(keepingCapacity: true) }
        do {
            try descriptor.writeAll(neutralizer?.bytes(unwritten) ?? unwritten)
            size += unwritten.count
        } catch Errno.brokenPipe {
            isClosed = true
        } catch {
            throw OutputError(path: path, problem: "\(error)")
        }
    }

    /// Opens the file before the output is complete, so that later data need not be kept in memory.
    ///
    /// - Parameter size: room for the output. What is not needed is released at the end.
    /// - Throws: `OutputError` if they do not fit. The file is then unchanged.
    func open(size: Int) throws(OutputError) {
        guard descriptor == nil else { return }
        let isNew = (try? FilePath(path).stat(followTargetSymlink: false)) == nil
        do {
            let file = try FileDescriptor.open(
                FilePath(path), .writeOnly, options: [.create, .closeOnExec],
                permissions: [.ownerReadWrite, .groupRead, .otherRead])
            let before = try file.stat()
            if before.type == .regular {
                do {
                    if size > 0 { try file.reserve(size) }
                } catch {
                    ftruncate(file.rawValue, Int(before.size))
                    if isNew { unlink(path) }
                    try? file.close()
                    throw error
                }
                ftruncate(file.rawValue, size)
            }
            descriptor = file
        } catch {
            throw OutputError(path: path, problem: "\(error)")
        }
    }

    /// Writes the remaining data, and closes the file. Later calls have no effect.
    func finish() throws(OutputError) {
        guard !isFinished else { return }
        isFinished = true
        try open(size: unwritten.count)
        try flush()
        guard let file = descriptor, ![.standardOutput, .standardError].contains(file) else { return }
        do {
            // Only a regular file can be shortened.
            ftruncate(file.rawValue, size)
            // Some file systems report write errors only on close.
            try file.close()
        } catch {
            throw OutputError(path: path, problem: "\(error)")
        }
    }
}

/// An output could not be written.
struct OutputError: Error, CustomStringConvertible {
    var path: String
    var problem: String

    var description: String {
        path == "-"
            ? "cannot write to standard output: \(problem). The output is incomplete."
            : "cannot write \(path.isEmpty ? "\"\"" : ShownText.escaped(path)): \(problem)."
    }
}

extension FileDescriptor {
    /// Makes room at the beginning of a regular file, if its file system can.
    ///
    /// - Throws: why it does not fit.
    func reserve(_ size: Int) throws(Errno) {
        // Exceeding the file size limit is an error, and does not end the process.
        signal(SIGXFSZ) { _ in }
        let error = posix_fallocate(rawValue, 0, size)
        if [EFBIG, ENOSPC, EDQUOT].contains(error) { throw Errno(rawValue: error) }
    }
}

extension Stat {
    /// True if both describe the same file, whatever its name.
    func isSameFile(as other: Stat?) -> Bool { deviceID == other?.deviceID && inode == other?.inode }
}
