import Foundation
import SystemPackage

/// The files of a recorded program and its child processes, until they are merged into one recording.
///
/// The files are in a private directory: next to the recording, or in the temporary directory if the recording is not a
/// regular file. The first process records to a file that already exists; each other process to a file with that name
/// and its process id. A previous file at the destination is unchanged until the recording is complete.
struct RecordedFiles {
    /// The result of merging the files.
    struct Outcome {
        /// The number of processes with records in the recording: the program, and processes that it started or forked.
        var processes: Int
        /// In bytes.
        var size: Int
        /// Files of processes that have not ended.
        var stillRecording: [String]
        /// Files of processes that have ended. Their records are not in the recording because its first process has not
        /// ended.
        var unmerged: [String]
    }

    private enum Destination {
        /// The descriptor holds a lock that keeps other processes from recording to the same path. `isNew` is true if
        /// the file was created for the lock.
        case file(path: String, lock: FileDescriptor, isNew: Bool)
        /// The recording is copied to the descriptor.
        case stream(FileDescriptor)
    }

    /// The beginnings of the directory's name while files are recorded, and after that.
    private static let (partial, rest) = (".partial-", ".rest-")

    /// True if the recording goes to this process's standard output.
    let isStandardOutput: Bool
    /// As the user gave it.
    private let name: String
    private let destination: Destination
    private let directory: FilePath
    /// The file of the first process.
    private let descriptor: FileDescriptor

    /// The path that the program records to.
    var path: String { Self.first(in: directory).string }

    private static func first(in directory: FilePath) -> FilePath { directory.appending("recording.jsonl") }

    /// Creates the empty files. Opening a FIFO may wait for its reader.
    ///
    /// - Parameters:
    ///   - name: the user's path; `-` is standard output.
    ///   - willCreate: called before the first file is created.
    /// - Throws: `RecordedProgramError`.
    init(for name: String, willCreate: () throws -> Void) throws(RecordedProgramError) {
        self.name = name
        let output = OutputDestination(name)
        isStandardOutput = output.isStandardOutput
        do {
            switch output {
            case .openFile(let number):
                destination = .stream(FileDescriptor(rawValue: number))
                try willCreate()
                (directory, descriptor) = try Self.makeFirst(beside: nil)
            case .stream(let path):
                destination = .stream(try FileDescriptor.open(FilePath(path), .writeOnly, options: .closeOnExec))
                try willCreate()
                (directory, descriptor) = try Self.makeFirst(beside: nil)
            case .file(let given):
                if given.isEmpty { throw Errno.noSuchFileOrDirectory }
                let path = URL(filePath: given).standardizedFileURL.path(percentEncoded: false)
                let isNew = FileStatus(path: path) == nil
                try willCreate()
                let lock = try FileDescriptor.open(
                    FilePath(path), .writeOnly, options: [.create, .closeOnExec], permissions: .ownerReadWrite)
                do {
                    guard flock(lock.rawValue, LOCK_EX | LOCK_NB) == 0 else { throw Errno(rawValue: errno) }
                    (directory, descriptor) = try Self.makeFirst(beside: path)
                } catch {
                    try? lock.close()
                    if isNew { unlink(path) }
                    throw error
                }
                destination = .file(path: path, lock: lock, isNew: isNew)
            }
        } catch {
            let problem = error as? Errno == .wouldBlock ? "another process records to it" : "\(error)"
            throw RecordedProgramError(problem: "cannot record to \(name.isEmpty ? "\"\"" : name): \(problem).")
        }
    }

    /// Creates a directory that only its owner can use, and the file of the first process in it.
    private static func makeFirst(beside path: String?) throws -> (FilePath, FileDescriptor) {
        func makeDirectory(_ beginning: String) throws -> FilePath {
            var path = Array("\(beginning)\(partial)XXXXXX".utf8CString)
            guard mkdtemp(&path) != nil else { throw Errno(rawValue: errno) }
            return FilePath(platformString: path)
        }
        let directory =
            try path.flatMap { try? makeDirectory($0) }
            ?? makeDirectory(FilePath.temporaryDirectory.appending("notify-demo").string)
        do {
            let file = try FileDescriptor.open(
                first(in: directory), .readWrite, options: [.create, .exclusiveCreate, .closeOnExec],
                permissions: .ownerReadWrite)
            return (directory, file)
        } catch {
            rmdir(directory.string)
            throw error
        }
    }

    /// Removes the files and restores the previous state.
    func discard() {
        unlink(path)
        rmdir(directory.string)
        close(removingNew: true)
    }

    private func close(removingNew: Bool) {
        try? descriptor.close()
        switch destination {
        case .file(let path, let lock, let isNew):
            // The recording may have replaced the file that was created for the lock.
            if removingNew, isNew, FileStatus(path: path)?.identity == FileStatus(descriptor: lock.rawValue)?.identity {
                unlink(path)
            }
            try? lock.close()
        case .stream(let stream):
            if stream.rawValue > STDERR_FILENO { try? stream.close() }
        }
    }

    /// Merges the files and moves the recording to its destination. If nothing was recorded, the destination is
    /// unchanged.
    ///
    /// From then on, a process that starts to record finds no file and reports that. A process that is already
    /// recording continues.
    ///
    /// - Parameter willWait: called before the recording is copied to a destination that may block, such as a FIFO. If
    ///   a signal ends this process while it is blocked, the files remain.
    /// - Throws: `RecordedProgramError`. Everything recorded is still in the files, which the error names.
    func finish(willWait: () -> Void) throws(RecordedProgramError) -> Outcome {
        // The environment of running processes has the old name.
        let suffix = directory.string.suffix(6)
        let closed = FilePath("\(directory.string.dropLast(Self.partial.count + 6))\(Self.rest)\(suffix)")
        let directory = rename(directory.string, closed.string) == 0 ? closed : directory
        do {
            let outcome = try finish(in: directory, willWait)
            close(removingNew: outcome.size == 0)
            return outcome
        } catch {
            close(removingNew: true)
            let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.string)) ?? []
            let files = names.sorted().map { "\(directory)/\($0)" }.joined(separator: " and ")
            throw RecordedProgramError(
                problem: "the program has ended, but its recording cannot be written to \(name): \(error)."
                    + (files.isEmpty ? "" : " The records are in \(files)."))
        }
    }

    private func finish(in directory: FilePath, _ willWait: () -> Void) throws -> Outcome {
        let first = RecordedFile(path: Self.first(in: directory), descriptor: descriptor)
        let others = RecordedFile.others(of: first.path)
        defer { for other in others { try? other.descriptor.close() } }
        // No process can record to a locked file until its descriptor is closed.
        let isStillRecording = !first.lock()
        var (ended, stillRecording): ([RecordedFile], [String]) = ([], [])
        for other in others {
            if other.lock() { ended.append(other) } else { stillRecording.append(other.path.string) }
        }
        let merged = isStillRecording ? [] : ended
        let sizeOfFirst = try descriptor.seek(offset: 0, from: .end)
        do {
            for other in merged { try other.append(to: descriptor) }
        } catch {
            // No record may be in two files.
            _ = ftruncate(descriptor.rawValue, Int(sizeOfFirst))
            throw error
        }
        for other in merged { unlink(other.path.string) }
        let size = Int(try descriptor.seek(offset: 0, from: .end))
        let newPath = size == 0 ? nil : try put(first, willWait)
        if newPath == nil, !isStillRecording { unlink(first.path.string) }
        rmdir(directory.string)
        if isStillRecording { stillRecording.insert(newPath ?? first.path.string, at: 0) }
        return Outcome(
            processes: (sizeOfFirst > 0 ? 1 : 0) + merged.count, size: size, stillRecording: stillRecording,
            unmerged: isStillRecording ? ended.map(\.path.string) : [])
    }

    /// Moves the recording to its destination.
    ///
    /// - Returns: the file's new path, or nil if it was copied.
    private func put(_ first: RecordedFile, _ willWait: () -> Void) throws -> String? {
        switch destination {
        case .file(let path, _, _):
            // The replacement closes its descriptor. A duplicate keeps the lock until `descriptor` is closed too.
            let file = try ReplacementFile(
                path: first.path.string, descriptor: descriptor.duplicate(), replacing: path)
            if try file.replaceDestination() { return path }
            file.keep()
        case .stream(let stream):
            willWait()
            try descriptor.copyContent(to: stream)
        }
        return nil
    }
}
