import SystemPackage

/// A file that a command writes, made or replaced.
final class OutputFile {
    private let path: String
    private let descriptor: FileDescriptor
    private var unwritten: [UInt8] = []
    private var isOpen = true

    /// - Throws: `OutputFileError`.
    init(_ path: String) throws {
        self.path = path
        do {
            descriptor = try FileDescriptor.open(
                FilePath(path), .writeOnly, options: [.create, .truncate, .closeOnExec],
                permissions: [.ownerReadWrite, .groupRead, .otherRead])
        } catch {
            throw OutputFileError(path: path, problem: "\(error)")
        }
    }

    deinit {
        if isOpen { try? descriptor.close() }
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

    /// Writes what is left, and says if the system could not keep it.
    func finish() throws {
        try flush()
        isOpen = false
        do {
            try descriptor.close()
        } catch {
            throw OutputFileError(path: path, problem: "\(error)")
        }
    }
}

/// A file could not be written.
struct OutputFileError: Error, CustomStringConvertible {
    var path: String
    var problem: String

    var description: String { "cannot write \(path.isEmpty ? "\"\"" : path): \(problem)." }
}
