internal import Foundation
internal import Glibc
internal import SystemPackage
internal import ThreadedNotifications

/// The files that a recorded program and its processes record to, until they are put together to one recording in its
/// place.
///
/// They are in a directory that only this user can use: beside the recording, or in the temporary directory if the
/// recording goes elsewhere than to a file. The first process records to a file that is there, and every other process to
/// a file of that name and its process id. The file that was in the place before stays as it is until the recording is
/// complete.
struct RecordedFiles {
    /// What became of the files.
    struct Outcome {
        /// How many processes' records are in the recording.
        var processes: Int
        /// In bytes.
        var size: Int
        /// Files of processes that have not ended.
        var underWay: [String] = []
        /// Files of processes that have ended, and whose records could not be put behind those of one that has not.
        var apart: [String] = []
    }

    private enum Place {
        /// Kept open, since it is locked: so no other process records there. `isNew`, if it was made for that.
        case file(path: String, lock: FileDescriptor, isNew: Bool)
        /// The recording is copied there.
        case stream(FileDescriptor)
    }

    /// Where the recording goes.
    struct Target {
        fileprivate enum Kind {
            case file(path: String)
            case stream(FileDescriptor)
        }

        /// As the user gave it.
        let name: String
        fileprivate let kind: Kind
        /// Whether it is this process's standard output.
        let isStandardOutput: Bool

        /// Opens what is written as it is, such as a FIFO: that may wait for its reader.
        ///
        /// - Parameter name: as a user gives it; `-` is standard output.
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
    private let place: Place
    private let directory: String
    /// The first process's file.
    private let descriptor: FileDescriptor

    /// Where the program is to record to.
    var path: String { directory + "/" + Self.nameOfFirst }

    /// Makes the files, in which nothing is yet.
    /// - Throws: `RecordedProgramError`.
    init(for target: Target) throws(RecordedProgramError) {
        self.target = target
        do {
            switch target.kind {
            case .stream(let stream):
                (directory, descriptor) = try Self.makeFirst(beside: nil)
                place = .stream(stream)
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
                place = .file(path: path, lock: lock, isNew: isNew)
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

    /// Makes the directory, and the first process's file in it.
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

    /// Makes a directory that only its owner can use.
    private static func makeDirectory(_ beginning: String) throws -> String {
        var path = Array("\(beginning)XXXXXX".utf8CString)
        guard mkdtemp(&path) != nil else { throw Errno(rawValue: errno) }
        return String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Leaves everything as it was before.
    func discard() {
        unlink(path)
        rmdir(directory)
        close(removingNew: true)
    }

    private func close(removingNew: Bool) {
        try? descriptor.close()
        switch place {
        case .file(let path, let lock, let isNew):
            // The recording may have taken the place of the file that was made to be locked.
            if removingNew, isNew, FileStatus(path: path)?.identity == FileStatus(descriptor: lock.rawValue)?.identity {
                unlink(path)
            }
            try? lock.close()
        case .stream(let stream):
            if stream.rawValue > STDERR_FILENO { try? stream.close() }
        }
    }

    /// Puts the files together and the recording in its place, or leaves that as it was if nothing was recorded.
    ///
    /// From then on, a process that begins to record finds no file, and says so. One that still records goes on to.
    ///
    /// - Parameter willWait: called before the recording is copied to what may not take it yet, such as a FIFO. If a signal
    ///   ends this process meanwhile, the files stay.
    /// - Throws: `RecordedProgramError`. What was recorded is still in the files, which the error names.
    func finish(willWait: () -> Void) throws(RecordedProgramError) -> Outcome {
        // The environment of processes that have not ended has the old name.
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
                problem: "the program has ended, and its recording cannot be written to \(target.name): \(error)."
                    + (files.isEmpty ? "" : " What was recorded is in \(files)."))
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
        // What is locked here is not recorded to, until its descriptor is closed.
        let isUnderWay = !first.lock()
        var (ended, underWay): ([RecordedFile], [RecordedFile]) = ([], [])
        for other in others {
            if other.lock() { ended.append(other) } else { underWay.append(other) }
        }
        let merged = isUnderWay ? [] : ended
        let sizeOfFirst = try descriptor.seek(offset: 0, from: .end)
        do {
            for other in merged { try other.append(to: descriptor) }
        } catch {
            // Nothing is in two files.
            _ = ftruncate(descriptor.rawValue, Int(sizeOfFirst))
            throw error
        }
        for other in merged { unlink(other.path) }
        let size = Int(try descriptor.seek(offset: 0, from: .end))
        let newPath = size == 0 ? nil : try put(first, willWait)
        if newPath == nil, !isUnderWay { unlink(first.path) }
        rmdir(directory)
        return Outcome(
            processes: (sizeOfFirst > 0 ? 1 : 0) + merged.count, size: size,
            underWay: (isUnderWay ? [newPath ?? first.path] : []) + underWay.map(\.path),
            apart: isUnderWay ? ended.map(\.path) : [])
    }

    /// Puts the recording in its place.
    /// - Returns: where the file is now, or nil if it was copied.
    private func put(_ first: RecordedFile, _ willWait: () -> Void) throws -> String? {
        switch place {
        case .file(let path, _, _):
            // Its own descriptor, since it closes it: the lock stays until this one's is closed too.
            let duplicate = try descriptor.duplicate()
            let file: ReplacementFile
            do {
                file = try ReplacementFile(path: first.path, descriptor: duplicate.rawValue, replacing: path)
            } catch {
                try? duplicate.close()
                throw error
            }
            if try file.place() { return path }
            file.keep()
        case .stream(let stream):
            willWait()
            try FileContent(descriptor: descriptor).write(to: stream)
        }
        return nil
    }
}
