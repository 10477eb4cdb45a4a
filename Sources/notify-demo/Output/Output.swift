import Foundation
import SystemPackage
import TerminalText

/// The data that a command writes: to standard output, or to a file.
///
/// A file is written in place, so it keeps its owner, permissions and links. Commands open it when they have what they
/// write. If the output does not fit, it is incomplete.
///
/// Threads: one at a time.
final class Output {
    /// The user's path.
    private let path: String
    private let descriptor: FileDescriptor
    private var unwritten: [UInt8] = []
    /// True if the output is finished, or if the reader of a pipe has ended. Later data is discarded.
    private(set) var isClosed = false

    /// - Parameter permissions: of a new file.
    init(
        _ path: String, permissions: FilePermissions = [.ownerReadWrite, .groupRead, .otherRead]
    ) throws(CommandError) {
        self.path = path
        if Self.isStandardOutput(path) {
            descriptor = .standardOutput
            return
        }
        do {
            descriptor = try FileDescriptor.open(
                FilePath(path), .writeOnly, options: [.create, .truncate, .closeOnExec], permissions: permissions)
        } catch {
            throw CommandError(description: "cannot write \(ShownText.name(path)): \(error).")
        }
    }

    var isStandardOutput: Bool { descriptor == .standardOutput }

    static func isStandardOutput(_ path: String) -> Bool { ["-", "/dev/stdout"].contains(path) }

    /// True if the path leads to a regular file that the other path leads to too; `-` is standard input.
    static func isFile(_ path: String, sameAs input: String) -> Bool {
        guard let written = try? FilePath(path).stat(), written.type == .regular,
            let read = try? input == "-" ? FileDescriptor.standardInput.stat() : FilePath(input).stat()
        else { return false }
        return written.deviceID == read.deviceID && written.inode == read.inode
    }

    /// Writes a line. Data is written when there are 64 KiB, and by `flush()`.
    func print(_ line: String) throws(CommandError) {
        unwritten += line.utf8
        try write([UInt8(ascii: "\n")])
    }

    /// Writes data with its own newlines: whole lines, or a part that ends where no command of a job can be.
    func write(_ bytes: some Collection<UInt8>) throws(CommandError) {
        unwritten += bytes
        if unwritten.count >= 1 << 16 { try flush() }
    }

    func flush() throws(CommandError) {
        defer { unwritten.removeAll(keepingCapacity: true) }
        if isClosed { return }
        do {
            try descriptor.writeAll(isStandardOutput ? Workflow.neutralized(unwritten) : unwritten)
        } catch Errno.brokenPipe {
            isClosed = true
        } catch {
            throw failure(error)
        }
    }

    /// Writes the remaining data, and closes a file.
    ///
    /// - Parameter line: the last line.
    func finish(_ line: String? = nil) throws(CommandError) {
        if let line { try print(line) }
        try flush()
        if isStandardOutput || isClosed { return }
        isClosed = true
        // Some file systems report write errors only on close.
        do { try descriptor.close() } catch { throw failure(error) }
    }

    func failure(_ problem: any Error) -> CommandError {
        CommandError(
            description: isStandardOutput
                ? "cannot write to standard output: \(problem). The output is incomplete."
                : "cannot write \(ShownText.name(path)): \(problem).")
    }
}
