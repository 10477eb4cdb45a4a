import Foundation
import Glibc
import SystemPackage
import ThreadedNotifications

/// The files of a recorded program and its child processes, until they are merged into one recording.
///
/// The files are in a private directory: next to the recording, or in the temporary directory if the recording is not a
/// regular file. The first process records to a file that already exists; each other process to a file with that name
/// and its process id. A previous file at the destination is unchanged until the recording is complete.
struct RecordedFiles {
    /// The result of merging the files.
    struct Outcome {
        /// The number of processes with records in the recording.
        var processes: Int
        /// In bytes.
        var size: Int
        /// Files of processes that have not ended.
        var stillRecording: [String] = []
        /// Files of processes that have ended, but could not be appended because the first process has not ended.
        var unmerged: [String] = []
    }

    private enum Destination {
        /// The descriptor holds a lock that keeps other processes from recording to the same path. `isNew` is true if
        /// the file was created for the lock.
        case file(path: String, lock: FileDescriptor, isNew: Bool)
        /// The recording is copied to the descriptor.
        case stream(FileDescriptor)
    }

    /// The destination of a recording.
    struct Target {
        fileprivate enum Kind {
            case file(path: String)
            case stream(FileDescriptor)
        }

        /// As the user gave it.
        let name: String
        fileprivate let kind: Kind
        /// True if it is this process's standard output.
        let isStandardOutput: Bool

        /// Opens a destination that is written directly. Opening a FIFO may wait for its reader.
        ///
        /// - Parameter name: the user's path; `-` is standard output.
        /// - Throws: `RecordedProgramError`.
        init(_ name: String) throws(RecordedProgramError) {
            self.name = name
            let destination = OutputDestination(name)
            isStandardOutput = destination == .openFile(descriptor: STDOUT_FILENO)
            do {
                switch destination {
                case .openFile(let descriptor): kind = .stream(FileDescriptor(rawValue: descriptor))
                case .stream(let path):
                    kind = .stream(try FileDescriptor.open(FilePath(path), .writeOnly, options: .closeOnExec))
                case .file(let path):
                    kind = .file(path: path)
                }
            } catch {
                throw RecordedFiles.failure(name, error)
            }
        }
    }

    private static let nameOfFirst = "recording.jsonl"

    private let target: Target
    private let destination: Destination
    private let directory: String
    /// The file of the first process.
    private let descriptor: FileDescriptor

    /// The path that the program records to.
    var path: String { directory + "/" + Self.nameOfFirst }

    /// Creates the empty files.
    /// - Throws: `RecordedProgramError`.
    init(for target: Target) throws(RecordedProgramError) {
        self.target = target
        do {
            switch target.kind {
            case .stream(let stream):
                (directory, descriptor) = try Self.makeFirst(beside: nil)
                destination = .stream(stream)
            case .file(let given):
                if given.isEmpty { throw Errno.noSuchFileOrDirectory }
                let path = URL(filePath: given).standardizedFileURL.path(percentEncoded: false)
                let isNew = FileStatus(path: path) == nil
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
            throw Self.failure(target.name, error)
        }
    }

    private static func failure(_ name: String, _ error: any Error) -> RecordedProgramError {
        let problem = error as? Errno == .wouldBlock ? "another process records to it" : "\(error)"
        return RecordedProgramError(problem: "cannot record to \(name.isEmpty ? "\"\"" : name): \(problem).")
    }

    private static let suffix = ".partial-"

    /// Creates the directory, and the file of the first process in it.
    private static func makeFirst(beside path: String?) throws -> (String, FileDescriptor) {
        let temporary = FilePath(FileManager.default.temporaryDirectory.path(percentEncoded: false))
        let directory: String
        if let beside = path.flatMap({ try? makeDirectory($0 + suffix) }) {
            directory = beside
        } else {
            directory = try makeDirectory(temporary.appending("notify-demo" + suffix).string)
        }
        do {
            let first = try FileDescriptor.open(
                FilePath(directory).appending(nameOfFirst), .readWrite,
                options: [.create, .exclusiveCreate, .closeOnExec], permissions: .ownerReadWrite)
            return (directory, first)
        } catch {
            rmdir(directory)
            throw error
        }
    }

    /// Creates a directory that only its owner can use.
    private static func makeDirectory(_ beginning: String) throws -> String {
        var path = Array("\(beginning)XXXXXX".utf8CString)
        guard mkdtemp(&path) != nil else { throw Errno(rawValue: errno) }
        return String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes the files and restores the previous state.
    func discard() {
        unlink(path)
        rmdir(directory)
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
        let closed = Self.closedName(of: directory)
        let rest = rename(directory, closed) == 0 ? closed : directory
        do {
            let outcome = try finish(in: rest, willWait)
            close(removingNew: outcome.size == 0)
            return outcome
        } catch {
            close(removingNew: true)
            let names = (try? FileManager.default.contentsOfDirectory(atPath: rest)) ?? []
            let files = names.sorted().map { "\(rest)/\($0)" }.joined(separator: " and ")
            throw RecordedProgramError(
                problem: "the program has ended, but its recording cannot be written to \(target.name): \(error)."
                    + (files.isEmpty ? "" : " The records are in \(files)."))
        }
    }

    /// `run.jsonl.rest-1a2b3c` for `run.jsonl.partial-1a2b3c`.
    private static func closedName(of directory: String) -> String {
        "\(directory.dropLast(suffix.count + 6)).rest-\(directory.suffix(6))"
    }

    private func finish(in directory: String, _ willWait: () -> Void) throws -> Outcome {
        let first = RecordedFile(path: directory + "/" + Self.nameOfFirst, descriptor: descriptor)
        let others = RecordedFile.others(of: first.path)
        defer { for other in others { try? other.descriptor.close() } }
        // No process can record to a locked file until its descriptor is closed.
        let isStillRecording = !first.lock()
        var (ended, stillRecording): ([RecordedFile], [RecordedFile]) = ([], [])
        for other in others {
            if other.lock() { ended.append(other) } else { stillRecording.append(other) }
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
        for other in merged { unlink(other.path) }
        let size = Int(try descriptor.seek(offset: 0, from: .end))
        let newPath = size == 0 ? nil : try put(first, willWait)
        if newPath == nil, !isStillRecording { unlink(first.path) }
        rmdir(directory)
        return Outcome(
            processes: (sizeOfFirst > 0 ? 1 : 0) + merged.count, size: size,
            stillRecording: (isStillRecording ? [newPath ?? first.path] : []) + stillRecording.map(\.path),
            unmerged: isStillRecording ? ended.map(\.path) : [])
    }

    /// Moves the recording to its destination.
    /// - Returns: the file's new path, or nil if it was copied.
    private func put(_ first: RecordedFile, _ willWait: () -> Void) throws -> String? {
        switch destination {
        case .file(let path, _, _):
            // The replacement closes its descriptor. A duplicate keeps the lock until `descriptor` is closed too.
            let duplicate = try descriptor.duplicate()
            let file: ReplacementFile
            do {
                file = try ReplacementFile(path: first.path, descriptor: duplicate.rawValue, replacing: path)
            } catch {
                try? duplicate.close()
                throw error
            }
            if try file.replaceDestination() { return path }
            file.keep()
        case .stream(let stream):
            willWait()
            try FileContent(descriptor: descriptor).write(to: stream)
        }
        return nil
    }
}
