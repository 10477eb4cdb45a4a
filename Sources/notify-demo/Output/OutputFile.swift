import DeliveryDiagnostics
import Foundation
import SystemPackage

/// A file that a command creates or replaces.
///
/// A regular file is replaced when the output is complete. Until then, or after an error, it stays as it was. A file
/// that cannot be replaced is written when the output is complete. Standard output, a FIFO or a device is written
/// directly.
final class OutputFile {
    private let path: String
    private let descriptor: FileDescriptor
    private let replacement: ReplacementFile?
    private let isOpened: Bool
    private var unwritten: [UInt8] = []

    /// - Throws: `OutputFileError`.
    init(_ path: String) throws {
        self.path = path
        do {
            switch OutputDestination(path) {
            case .openFile(let number):
                (descriptor, replacement, isOpened) = (FileDescriptor(rawValue: number), nil, false)
            case .stream(let path):
                descriptor = try FileDescriptor.open(FilePath(path), .writeOnly, options: [.truncate, .closeOnExec])
                (replacement, isOpened) = (nil, true)
            case .file(let path):
                let file = try ReplacementFile(path)
                (descriptor, replacement, isOpened) = (FileDescriptor(rawValue: file.descriptor), file, false)
                UnfinishedOutput.begin(file.path)
            }
        } catch {
            throw OutputFileError(path: path, problem: "\(error)")
        }
    }

    deinit {
        if isOpened { try? descriptor.close() }
        guard let replacement else { return }
        replacement.discard()
        UnfinishedOutput.end()
    }

    func write(_ bytes: [UInt8]) throws {
        unwritten += bytes
        if unwritten.count >= 1 << 20 { try flush() }
    }

    private func flush() throws {
        defer { unwritten.removeAll(keepingCapacity: true) }
        do {
            try descriptor.writeAll(unwritten)
        } catch {
            throw OutputFileError(path: path, problem: "\(error)")
        }
    }

    /// Writes the remaining bytes, and replaces the file.
    /// - Throws: `OutputFileError`.
    func finish() throws {
        try flush()
        guard let replacement else { return }
        // A complete output must survive a signal: it may be the only copy while the file is written.
        UnfinishedOutput.end()
        do {
            try replacement.replaceDestination()
        } catch {
            throw OutputFileError(path: path, problem: "\(error)", rest: replacement.isKept ? replacement.path : nil)
        }
    }
}

/// A file could not be written.
struct OutputFileError: Error, CustomStringConvertible {
    var path: String
    var problem: String
    /// The file with the complete output, if there is one.
    var rest: String?

    var description: String {
        let rest = rest.map { " The output is in \($0)." } ?? ""
        return "cannot write \(path.isEmpty ? "\"\"" : path): \(problem).\(rest)"
    }
}
