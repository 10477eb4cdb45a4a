import CLinux
import ChildProcesses
import DeliveryRecording
import Foundation
import SystemPackage
import ThreadedNotifications

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
        /// The number of records other than ends.
        var records = 0
        /// What could not be recorded, and why.
        var unrecorded: Set<String> = []
        /// Why nothing could be written, if that is known.
        var problem: String?
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
            let file = directory.appending(Self.fileName)
            do {
                first = try FileDescriptor.open(
                    file, .readWrite, options: [.create, .exclusiveCreate, .closeOnExec], permissions: .ownerReadWrite)
                if let problem = Self.problem(writing: first, in: directory) {
                    throw CommandError(description: problem)
                }
            } catch {
                unlink(file.string)
                rmdir(directory.string)
                throw error
            }
        } catch {
            lock?.release()
            let problem =
                error as? Errno == .wouldBlock
                ? "another process records to it" : Self.text(of: error)
            throw CommandError(description: "cannot record to \(name.isEmpty ? "\"\"" : name): \(problem).")
        }
        self.lock = lock
    }

    private static func text(of error: any Error) -> String {
        (error as? OutputError)?.problem ?? (error as? CommandError)?.description ?? "\(error)"
    }

    /// Why an empty file cannot take the first records, such as a full disk; nil if it can.
    private static func problem(writing file: FileDescriptor, in directory: FilePath) -> String? {
        // Exceeding the file size limit is an error, and does not end the process.
        signal(SIGXFSZ) { _ in }
        let error = posix_fallocate(file.rawValue, 0, 4096)
        ftruncate(file.rawValue, 0)
        guard [EFBIG, ENOSPC, EDQUOT].contains(error) else { return nil }
        return "\(Errno(rawValue: error)), in \(directory.removingLastComponent())"
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
    /// recording continues. The call blocks if the destination does, such as a FIFO without a reader. A request to end
    /// ends this process, with a message that names the files.
    ///
    /// - Parameters:
    ///   - program: the id of the program, whose end is appended if it could not record that.
    ///   - end: how it ended.
    /// - Throws: `CommandError`. Everything recorded is still in the files, which the error names.
    func finish(program: Int32, _ end: ChildProcess.End) throws(CommandError) -> Outcome {
        defer { lock?.release() }
        let phase = Locked(Phase.copying)
        // The environment of running processes has the old name.
        let closed = FilePath("\(directory).rest")
        let directory = rename(self.directory.string, closed.string) == 0 ? closed : self.directory
        do {
            try EndRequests.pass { [name, lock] request in
                let wasCopying = phase.withLock { phase in
                    defer { if phase == .copying { phase = .interrupted } }
                    return phase == .copying
                }
                if wasCopying {
                    let text =
                        "notify-demo: interrupted while the recording was written to \(name), "
                        + "which may be incomplete. \(Self.kept(in: directory))\n"
                    _ = try? FileDescriptor.standardError.writeAll(Array(text.utf8))
                    lock?.release()
                }
                EndRequests.end(by: request)
            }
            return try copyFiles(in: directory, program, end, phase)
        } catch {
            throw CommandError(
                description: "the program has ended, but its recording cannot be written to \(name): "
                    + "\(Self.text(of: error)). \(Self.kept(in: directory))")
        }
    }

    /// What a request to end has to keep.
    private enum Phase {
        /// The records are in the files.
        case copying
        /// They are in the files, and this process is about to end.
        case interrupted
        /// They are at the destination.
        case copied
    }

    private static func kept(in directory: FilePath) -> String {
        "The records are in \(names(in: directory).map { "\(directory)/\($0)" }.joined(separator: " and "))."
    }

    private func copyFiles(
        in directory: FilePath, _ program: Int32, _ end: ChildProcess.End, _ phase: Locked<Phase>
    ) throws -> Outcome {
        let now = CLinuxMonotonicNanoseconds()
        let files = [(directory.appending(Self.fileName), first)] + Self.others(in: directory)
        defer { for file in files { try? file.descriptor.close() } }
        var outcome = Outcome()
        var ended: [File] = []
        for file in files {
            // No process can record to a locked file until its descriptor is closed.
            let hasEnded = flock(file.descriptor.rawValue, LOCK_EX | LOCK_NB) == 0
            if hasEnded { ended.append(file) } else { outcome.stillRecording.append(file.path.string) }
        }
        var calls: Set<CallAddress> = []
        let recorded = try files.filter { file in
            var isEmpty = true
            try Self.forEachLines(of: file.descriptor) { lines in
                isEmpty = false
                calls.formUnion(RecordedCalls.addresses(in: lines))
            }
            return !isEmpty
        }
        if recorded.isEmpty {
            outcome.problem = Self.problem(writing: first, in: directory)
        } else {
            let sources = sources(of: calls, &outcome)
            let output = try Output(name)
            try output.open(size: try size(of: recorded, sources))
            var last = UInt8(ascii: "\n")
            func write(_ lines: [UInt8]) throws {
                try output.write(lines)
                outcome.size += lines.count
                last = lines.last ?? last
            }
            for file in recorded {
                // The last line of the previous process may be truncated.
                if last != UInt8(ascii: "\n") { try write([UInt8(ascii: "\n")]) }
                var tail = RecordingTail()
                try Self.forEachLines(of: file.descriptor) { lines in
                    tail.take(lines)
                    try write(sources.isEmpty ? lines : RecordedCalls.resolved(lines, sources))
                }
                if let reason = DeliveryRecord.Reason(end), let line = tail.end(of: program, reason, now: now) {
                    try write(line)
                }
                outcome.records += tail.recordCount
                outcome.unrecorded.formUnion(tail.unrecorded)
            }
            try output.finish()
        }
        outcome.processes = recorded.count
        let isInterrupted = phase.withLock { phase in
            if phase == .copying { phase = .copied }
            return phase == .interrupted
        }
        // The handler of the request ends the process.
        while isInterrupted { pause() }
        for file in ended { unlink(file.path.string) }
        rmdir(directory.string)
        return outcome
    }

    // MARK: Source locations

    /// The source locations of calls that have only an address.
    private func sources(of calls: Set<CallAddress>, _ outcome: inout Outcome) -> [CallAddress: CallSource] {
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
        var size = 0
        for file in files {
            try Self.forEachLines(of: file.descriptor) {
                size += sources.isEmpty ? $0.count : RecordedCalls.resolved($0, sources).count
            }
        }
        return size
    }

    /// Reads a file in parts of at least a line, about 1 MiB each. The last line may be truncated. Leaves out the NUL
    /// bytes that are room for more records.
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
            try take(withoutRoom(lines))
            lines = Array(buffer[newline + 1..<count])
        }
        lines = withoutRoom(lines)
        if lines.isEmpty || lines == [0] { return }
        // A NUL byte at the end means that the process died within the line.
        try take(lines.last == 0 ? lines + [UInt8(ascii: "\n")] : lines)
    }

    /// The lines with one NUL byte in place of several.
    private static func withoutRoom(_ lines: [UInt8]) -> [UInt8] {
        lines.withUnsafeBytes { bytes in
            var (kept, start): ([UInt8], Int) = ([], 0)
            while start < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
                guard let base = rest.baseAddress, let nul = memchr(base, 0, rest.count) else {
                    return start == 0 ? lines : kept + rest
                }
                let length = UnsafeRawPointer(nul) - base + 1
                kept += rest.prefix(length)
                start += length
                while start < bytes.count, bytes[start] == 0 { start += 1 }
            }
            return kept
        }
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

extension DeliveryRecord.Reason {
    /// How a program ended; nil if this process ended it.
    fileprivate init?(_ end: ChildProcess.End) {
        switch end {
        case .exit: self = .exit
        case .signal(let number): self = .signal(UInt8(clamping: number))
        case .timedOut: return nil
        }
    }
}
