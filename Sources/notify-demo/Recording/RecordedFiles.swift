import CLinux
import ChildProcesses
import DeliveryRecording
import Foundation
import SystemPackage

/// The files of a recorded program and its child processes, until they are copied into one recording.
///
/// The files are in a private directory: next to the recording, or in the temporary directory if the recording is not a
/// regular file. The first process records to a file that already exists; each other process to a file with that name
/// and its process id. A previous file at the destination is unchanged until the program has ended.
struct RecordedFiles {
    struct Outcome {
        /// The number of processes with records: the program, and processes that it started or forked.
        var processes = 0
        /// In bytes.
        var size = 0
        /// Files of processes that have not ended. The recording has what they contained when it was copied.
        var stillRecording: [String] = []
        /// The number of records, and of those of posts.
        var records = 0
        var posts = 0
        /// True if there are no records, or only those of ends.
        var isEmpty = true
        /// Messages that say which calls could not be recorded, and why.
        var unrecorded: Set<String> = []
        /// True if there are calls whose source locations are unknown because there is no llvm-symbolizer.
        var lacksSymbolizer = false
    }

    /// The user's path.
    private let name: String
    private let directory: FilePath

    /// The path that the program records to.
    var path: String { directory.appending("recording.jsonl").string }

    /// Creates the directory and an empty file.
    ///
    /// - Parameter name: the user's path; `-` is standard output.
    /// - Throws: `CommandError`.
    init(for name: String) throws(CommandError) {
        self.name = name
        do {
            // Reports a file that cannot be written before the program runs.
            _ = try Output(name)
            let temporary = FileManager.default.temporaryDirectory.appending(path: "notify-demo")
            var places = [temporary.path(percentEncoded: false)]
            if Output.isRegular(name) {
                if let file = try? FileDescriptor.open(FilePath(name), .readOnly, options: .closeOnExec) {
                    defer { try? file.close() }
                    // It would end if its file became shorter.
                    if flock(file.rawValue, LOCK_EX | LOCK_NB) != 0 {
                        throw CommandError(description: "another process records to it")
                    }
                }
                // The program may have another working directory.
                places.insert(URL(filePath: name).standardizedFileURL.path(percentEncoded: false), at: 0)
            }
            directory = try Self.makeDirectory(places)
            let options: FileDescriptor.OpenOptions = [.create, .exclusiveCreate]
            try FileDescriptor.open(FilePath(path), .writeOnly, options: options, permissions: .ownerReadWrite).close()
        } catch {
            throw CommandError(
                description: "cannot record to \(name.isEmpty ? "\"\"" : name): \(Self.text(of: error)).")
        }
    }

    private static func text(of error: any Error) -> String { (error as? OutputError)?.problem ?? "\(error)" }

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
    }

    /// Copies the files to the destination, and removes those whose processes have ended. If nothing was recorded, the
    /// destination is unchanged.
    ///
    /// From then on, a process that starts to record finds no file and reports that. A process that is already
    /// recording continues. The call blocks if the destination does, such as a FIFO without a reader.
    ///
    /// - Parameters:
    ///   - program: the id of the program, whose end is appended if it could not record that.
    ///   - end: how it ended.
    /// - Throws: `CommandError`. Everything recorded is still in the files, whose directory the error names.
    func finish(program: Int32, _ end: ChildProcess.End) throws(CommandError) -> Outcome {
        let now = CLinuxMonotonicNanoseconds()
        // The environment of running processes has the old name.
        let closed = FilePath("\(directory).rest")
        let directory = rename(self.directory.string, closed.string) == 0 ? closed : self.directory
        let reason: Recording.Reason? =
            switch end {
            case .exit: .exit
            case .signal(let number): .signal(UInt8(clamping: number))
            case .timedOut: nil
            }
        do {
            let names = try FileManager.default.contentsOfDirectory(atPath: directory.string).sorted()
            let files = try names.map { try RecordedFile(directory.appending($0)) }
            var outcome = try copy(files.filter { $0.size > 0 }) { tail in
                reason.flatMap { tail.end(of: program, $0, now: now) }
            }
            for file in files {
                if file.hasEnded { unlink(file.path.string) } else { outcome.stillRecording.append(file.path.string) }
            }
            rmdir(directory.string)
            return outcome
        } catch {
            throw CommandError(
                description: "the program has ended, but its recording cannot be written to \(name): "
                    + "\(Self.text(of: error)). The records are in \(directory).")
        }
    }

    /// - Parameter end: the record to append to a file.
    private func copy(_ files: [RecordedFile], end: (RecordingTail) -> [UInt8]?) throws -> Outcome {
        var outcome = Outcome(processes: files.count)
        if files.isEmpty { return outcome }
        let calls = files.reduce(into: Set()) { $0.formUnion($1.calls) }
        let symbolizer = calls.isEmpty ? nil : Symbolizer()
        outcome.lacksSymbolizer = !calls.isEmpty && symbolizer == nil
        let sources = symbolizer?.sources(of: calls, from: FileManager.default.currentDirectoryPath) ?? [:]

        let output = try Output(name)
        try output.open(permissions: .ownerReadWrite)
        var last = UInt8(ascii: "\n")
        func write(_ lines: [UInt8]) throws {
            try output.write(lines)
            outcome.size += lines.count
            last = lines.last ?? last
        }
        for file in files {
            // The last line of the previous process may be truncated.
            if last != UInt8(ascii: "\n") { try write([UInt8(ascii: "\n")]) }
            var tail = RecordingTail()
            try file.forEachLines { lines in
                tail.take(lines)
                try write(sources.isEmpty ? lines : RecordedCalls.resolved(lines, sources))
            }
            if let line = end(tail) {
                try write(line)
                outcome.records += 1
            }
            outcome.records += tail.recordCount
            outcome.posts += tail.postCount
            if tail.recordCount > tail.endCount { outcome.isEmpty = false }
            outcome.unrecorded.formUnion(tail.unrecorded)
        }
        try output.finish()
        // The records stay in the files.
        if output.isClosed { throw Errno.brokenPipe }
        return outcome
    }
}
