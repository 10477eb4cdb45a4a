import Foundation
import SystemPackage

/// The data that a command writes: to standard output, or to a file that it creates or replaces.
///
/// A regular file is replaced when the output is complete. Until then, or after an error, it stays as it was. A file
/// that cannot be replaced is written when the output is complete. Standard output, a FIFO or a device is written
/// directly. A request to end the process removes the incomplete file.
///
/// Threads: one at a time.
final class Output {
    let isStandardOutput: Bool
    private let path: String
    private let descriptor: FileDescriptor
    private let replacement: ReplacementFile?
    private(set) var hasWritten = false
    private var unwritten: [UInt8] = []

    /// - Throws: `OutputError`.
    init(_ path: String) throws(OutputError) {
        self.path = path
        let destination = OutputDestination(path)
        isStandardOutput = destination.isStandardOutput
        do {
            switch destination {
            case .openFile(let open): (descriptor, replacement) = (open, nil)
            case .stream(let path):
                descriptor = try FileDescriptor.open(FilePath(path), .writeOnly, options: [.truncate, .closeOnExec])
                replacement = nil
            case .file(let path):
                let file = try ReplacementFile(path)
                (descriptor, replacement) = (file.descriptor, file)
                try EndRequests.handle { [path = file.path] signal in
                    unlink(path)
                    EndRequests.end(by: signal)
                }
                // Exceeding the file size limit is then an error of `write`, and does not end the process.
                signal(SIGXFSZ) { _ in }
            }
        } catch {
            throw OutputError(path: path, problem: "\(error)")
        }
    }

    /// Writes a line. Data is written when there are 64 KiB, and by `flush()`.
    func print(_ line: String) throws(OutputError) {
        unwritten += line.utf8
        try write([UInt8(ascii: "\n")])
    }

    /// Writes data with its own newlines.
    func write(_ bytes: some Collection<UInt8>) throws(OutputError) {
        unwritten += bytes
        if unwritten.count >= 1 << 16 { try flush() }
    }

    func flush() throws(OutputError) {
        hasWritten = hasWritten || !unwritten.isEmpty
        defer { unwritten.removeAll(keepingCapacity: true) }
        do {
            try descriptor.writeAll(unwritten)
        } catch {
            throw OutputError(path: path, problem: "\(error)", isBrokenPipe: error as? Errno == .brokenPipe)
        }
    }

    /// Writes the remaining data, and replaces the file.
    func finish() throws(OutputError) {
        try flush()
        guard let replacement else { return }
        // A complete output must survive a signal: it may be the only copy while the file is written.
        EndRequests.stop()
        do {
            try replacement.replaceDestination()
        } catch {
            throw OutputError(path: path, problem: "\(error)", rest: replacement.isKept ? replacement.path : nil)
        }
    }
}

/// An output could not be written.
struct OutputError: Error, CustomStringConvertible {
    /// The user's path.
    var path: String
    var problem: String
    /// The file with the complete output, if there is one.
    var rest: String?
    /// True if the reader of the output has ended.
    var isBrokenPipe = false

    var description: String {
        if path == "-" { return "cannot write to standard output: \(problem). The output is incomplete." }
        let rest = rest.map { " The output is in \($0)." } ?? ""
        return "cannot write \(path.isEmpty ? "\"\"" : path): \(problem).\(rest)"
    }
}
