import ArgumentParser
import DeliveryDiagnostics
import Foundation
import SystemPackage
import TerminalText

/// The data that a command writes: to standard output, or to a file.
///
/// Standard output is written directly. A file is written in place when the output is complete, so it keeps its owner,
/// permissions and links, and stays as it was if the command ends before. If the output does not fit, it is incomplete.
///
/// Threads: one at a time.
final class Output {
    /// The user's path.
    private let path: String
    /// Nil for a file that is not open yet.
    private var descriptor: FileDescriptor?
    private var unwritten: [UInt8] = []
    private(set) var hasWritten = false
    /// True if the reader of a pipe has ended. Later data is discarded.
    private(set) var isClosed = false
    private var isFinished = false
    /// For a standard stream of a job.
    private var neutralizer: WorkflowCommands.Neutralizer?

    /// - Throws: `OutputError` if the file cannot be written.
    init(_ path: String) throws(OutputError) {
        self.path = path
        descriptor = Self.standardStream(path)
        if descriptor != nil {
            if Workflow.isRunning { neutralizer = WorkflowCommands.Neutralizer() }
        } else if let problem = Self.problem(path) {
            throw OutputError(path: path, problem: "\(problem)")
        }
    }

    var isStandardOutput: Bool { descriptor == .standardOutput }

    /// True for `-`, `/dev/stdout`, and the file that standard output is redirected to.
    static func isStandardOutput(_ path: String) -> Bool { standardStream(path) == .standardOutput }

    /// True if the path names a regular file, or no file yet.
    static func isRegular(_ path: String) -> Bool {
        standardStream(path) == nil && (try? FilePath(path).stat()).map { $0.type == .regular } ?? true
    }

    /// Rejects outputs that would overwrite an input or each other.
    ///
    /// - Parameter outputs: each with its option; without a path it prints on standard output.
    static func check(_ outputs: [(option: String, path: String?)], inputs: [String]) throws {
        let printed = outputs.filter { $0.path.map(isStandardOutput) ?? true }.map(\.option)
        if printed.count > 1 {
            throw ValidationError(
                "\(printed[0]) and \(printed[1]) both write to standard output. Use one of them, or name a file.")
        }
        func resolved(_ path: String) -> URL { URL(filePath: path).standardizedFileURL.resolvingSymlinksInPath() }
        for (index, (option, path)) in outputs.enumerated() {
            guard let path, path != "-" else { continue }
            let written = try? FilePath(path).stat()
            let input = inputs.first { input in
                let read = try? input == "-" ? FileDescriptor.standardInput.stat() : FilePath(input).stat()
                return written?.type == .regular && written?.isSameFile(as: read) == true
            }
            if let input { throw ValidationError("\(option) would overwrite \(input). Name another file.") }
            if let other = outputs[..<index].first(where: { $0.path.map(resolved) == resolved(path) }) {
                throw ValidationError("\(other.option) and \(option) name the same file.")
            }
        }
    }

    /// Standard output or standard error, if the path names its file. Opening the file again would write at its
    /// beginning.
    private static func standardStream(_ path: String) -> FileDescriptor? {
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
        let written = found != nil ? path : directory.isEmpty ? "." : directory.string
        return access(written, found == nil ? W_OK | X_OK : W_OK) == 0 ? nil : Errno(rawValue: errno)
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
        } catch Errno.brokenPipe {
            isClosed = true
        } catch {
            throw OutputError(path: path, problem: "\(error)")
        }
    }

    /// Opens the file before the output is complete, so that later data need not be kept in memory.
    ///
    /// - Parameter permissions: of a new file.
    func open(permissions: FilePermissions = [.ownerReadWrite, .groupRead, .otherRead]) throws(OutputError) {
        if descriptor != nil { return }
        descriptor = try throwing {
            try FileDescriptor.open(
                FilePath(path), .writeOnly, options: [.create, .truncate, .closeOnExec], permissions: permissions)
        }
    }

    /// Writes the remaining data, and closes the file. Later calls have no effect.
    ///
    /// - Parameter line: the last line.
    func finish(_ line: String? = nil) throws(OutputError) {
        if isFinished { return }
        isFinished = true
        if let line { try print(line) }
        try open()
        try flush()
        guard let file = descriptor, ![.standardOutput, .standardError].contains(file) else { return }
        // Some file systems report write errors only on close.
        try throwing { try file.close() }
    }

    private func throwing<Value>(_ body: () throws -> Value) throws(OutputError) -> Value {
        do { return try body() } catch { throw OutputError(path: path, problem: "\(error)") }
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

extension Stat {
    /// True if both describe the same file, whatever its name.
    fileprivate func isSameFile(as other: Stat?) -> Bool { deviceID == other?.deviceID && inode == other?.inode }
}
