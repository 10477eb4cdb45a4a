import DeliveryRecording
import Foundation
import SystemPackage

/// The files of a recorded program and its child processes, until they are copied into one recording.
///
/// The files are in a private directory: next to the recording, or in the temporary directory if the recording is not a
/// regular file. The first process records to a file that already exists; each other process to a file with that name
/// and its process id. A previous file at the destination is unchanged until the recording is complete.
struct RecordedFiles {
    struct Outcome {
        /// The number of processes with records: the program, and processes that it started or forked.
        var processes = 0
        /// In bytes.
        var size = 0
        /// Files of processes that have not ended. The recording has what they contained when it was copied.
        var stillRecording: [String] = []
        /// True if there are calls whose source locations are unknown because there is no llvm-symbolizer.
        var lacksSymbolizer = false
    }

    /// The recording of one process. It is examined, locked and read by its descriptor, so that all of this concerns
    /// the same file.
    private typealias File = (path: FilePath, descriptor: FileDescriptor)

    /// The user's path.
    private let name: String
    private let lock: DestinationLock?
    private let directory: FilePath
    private let first: FileDescriptor

    /// The path that the program records to.
    var path: String { directory.appending(Self.fileName).string }
    private static let fileName = "recording.jsonl"

    /// Creates the directory and an empty file.
    ///
    /// - Parameter name: the user's path; `-` is standard output.
    /// - Throws: `CommandError`.
    init(for name: String) throws(CommandError) {
        self.name = name
        var lock: DestinationLock?
        do {
            // Reports a file that cannot be written before the program runs.
            _ = try Output(name)
            // The program may have another working directory.
            let path = URL(filePath: name).standardizedFileURL.path(percentEncoded: false)
            if Output.isRegular(name) { lock = try DestinationLock(path) }
            let temporary = FileManager.default.temporaryDirectory.appending(path: "notify-demo")
            directory = try Self.makeDirectory((lock == nil ? [] : [path]) + [temporary.path(percentEncoded: false)])
            first = try FileDescriptor.open(
                directory.appending(Self.fileName), .readWrite, options: [.create, .exclusiveCreate, .closeOnExec],
                permissions: .ownerReadWrite)
        } catch {
            lock?.release()
            let problem =
                error as? Errno == .wouldBlock
                ? "another process records to it" : (error as? OutputError)?.problem ?? "\(error)"
            throw CommandError(description: "cannot record to \(name.isEmpty ? "\"\"" : name): \(problem).")
        }
        self.lock = lock
    }

    /// Creates a directory that only its owner can use, beside the first path where that is possible.
    private static func makeDirectory(_ paths: [String]) throws -> FilePath {
        for path in paths {
            var template = Array("\(path).recording-XXXXXX".utf8CString)
            if mkdtemp(&template) != nil { return FilePath(platformString: template) }
        }
        throw Errno(rawValue: errno)
    }

    /// Removes the files of a program that was not started.
    func discard() {
        unlink(path)
        rmdir(directory.string)
        lock?.release()
    }

    /// Copies the files to the destination, and removes those whose processes have ended. If nothing was recorded, the
    /// destination is unchanged.
    ///
    /// From then on, a process that starts to record finds no file and reports that. A process that is already
    /// recording continues. The call blocks if the destination does, such as a FIFO without a reader.
    ///
    /// - Throws: `CommandError`. Everything recorded is still in the files, which the error names.
    func finish() throws(CommandError) -> Outcome {
        defer { lock?.release() }
        // The environment of running processes has the old name.
        let closed = FilePath("\(directory).rest")
        let directory = rename(self.directory.string, closed.string) == 0 ? closed : self.directory
        do {
            return try copyFiles(in: directory)
        } catch {
            let kept = Self.names(in: directory).map { "\(directory)/\($0)" }
            let problem = (error as? OutputError)?.problem ?? "\(error)"
            throw CommandError(
                description: "the program has ended, but its recording cannot be written to \(name): \(problem). "
                    + "The records are in \(kept.joined(separator: " and ")).")
        }
    }

    private func copyFiles(in directory: FilePath) throws -> Outcome {
        let files = [(directory.appending(Self.fileName), first)] + Self.others(in: directory)
        defer { for file in files { try? file.descriptor.close() } }
        var outcome = Outcome()
        var ended: [File] = []
        for file in files {
            // No process can record to a locked file until its descriptor is closed.
            let hasEnded = flock(file.descriptor.rawValue, LOCK_EX | LOCK_NB) == 0
            if hasEnded { ended.append(file) } else { outcome.stillRecording.append(file.path.string) }
        }
        let recorded = try files.filter { try $0.descriptor.stat().size > 0 }
        if !recorded.isEmpty {
            let sources = try sources(in: recorded, &outcome)
            let output = try Output(name)
            try output.open(size: try size(of: recorded, sources))
            var last = UInt8(ascii: "\n")
            for file in recorded {
                // The last line of the previous process may be truncated.
                if last != UInt8(ascii: "\n") { try output.write([UInt8(ascii: "\n")]) }
                try Self.forEachLines(of: file.descriptor) { lines in
                    let lines = sources.isEmpty ? lines : RecordedCalls.resolved(lines, sources)
                    try output.write(lines)
                    outcome.size += lines.count
                    last = lines.last ?? last
                }
            }
            try output.finish()
        }
        outcome.processes = recorded.count
        for file in ended { unlink(file.path.string) }
        rmdir(directory.string)
        return outcome
    }

    // MARK: Source locations

    /// The source locations of the calls in the files that have only an address.
    private func sources(in files: [File], _ outcome: inout Outcome) throws -> [CallAddress: CallSource] {
        var calls: Set<CallAddress> = []
        for file in files {
            try Self.forEachLines(of: file.descriptor) { calls.formUnion(RecordedCalls.addresses(in: $0)) }
        }
        if calls.isEmpty { return [:] }
        guard let symbolizer = Symbolizer() else {
            outcome.lacksSymbolizer = true
            return [:]
        }
        let directory = FileManager.default.currentDirectoryPath
        return symbolizer.sources(of: Array(calls)).mapValues { $0.relative(to: directory) }
    }

    /// The size that the files have with source locations, in bytes. Files of running processes may grow.
    private func size(of files: [File], _ sources: [CallAddress: CallSource]) throws -> Int {
        if sources.isEmpty { return try files.reduce(0) { $0 + Int(try $1.descriptor.stat().size) } }
        var size = 0
        for file in files {
            try Self.forEachLines(of: file.descriptor) { size += RecordedCalls.resolved($0, sources).count }
        }
        return size
    }

    /// Reads a file in parts of at least a line, about 1 MiB each. The last line may be truncated.
    private static func forEachLines(of file: FileDescriptor, _ take: ([UInt8]) throws -> Void) throws {
        var lines: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        var offset: Int64 = 0
        while case let count = try buffer.withUnsafeMutableBytes({ bytes in
            try file.read(fromAbsoluteOffset: offset, into: bytes)
        }), count > 0 {
            offset += Int64(count)
            guard let newline = buffer[..<count].lastIndex(of: UInt8(ascii: "\n")) else {
                lines += buffer[..<count]
                continue
            }
            lines += buffer[...newline]
            try take(lines)
            lines = Array(buffer[newline + 1..<count])
        }
        if !lines.isEmpty { try take(lines) }
    }

    private static func names(in directory: FilePath) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: directory.string)) ?? []).sorted()
    }

    /// Opens the files of all processes but the first. The program may have put other files there.
    private static func others(in directory: FilePath) -> [File] {
        names(in: directory).compactMap { name in
            guard name.hasPrefix("\(fileName)."), let process = UInt64(name.split(separator: ".").last ?? ""),
                let descriptor = try? FileDescriptor.open(
                    directory.appending(name), .readOnly, options: [.closeOnExec, .nonBlocking, .noFollow])
            else { return nil }
            // The first line of a recording has the id of its process.
            let header = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
                count = (try? descriptor.read(fromAbsoluteOffset: 0, into: UnsafeMutableRawBufferPointer(buffer))) ?? 0
            }.prefix { $0 != UInt8(ascii: "\n") }
            guard (try? descriptor.stat())?.type == .regular,
                header.withUnsafeBufferPointer(Recording.process(ofHeader:)) == process
            else {
                try? descriptor.close()
                return nil
            }
            return (directory.appending(name), descriptor)
        }
    }
}
