internal import Foundation
internal import Glibc
internal import SystemPackage
internal import ThreadedNotifications

/// The files that a recorded program and its processes record to, until they are put together to one recording in its
/// place.
///
/// The first process records to a new file beside the recording's place, and every other process to a file of that name
/// and its process id. The file that was in the place before stays as it is until the recording is complete.
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
        case file(ReplacementFile, path: String, lock: FileDescriptor, isNew: Bool)
        /// The recording is copied there.
        case stream(ReplacementFile, FileDescriptor)
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

    private let place: Place

    /// Where the program is to record to.
    var path: String { temporary.path }

    private var temporary: ReplacementFile {
        switch place {
        case .file(let file, _, _, _), .stream(let file, _): file
        }
    }

    /// Makes the files, in which nothing is yet.
    /// - Throws: `RecordedProgramError`.
    init(for target: Target) throws(RecordedProgramError) {
        do {
            switch target.kind {
            case .stream(let stream): place = .stream(try Self.inTemporaryDirectory(), stream)
            case .file(let path):
                if path.isEmpty { throw Errno.noSuchFileOrDirectory }
                place = try Self.beside(URL(filePath: path).standardizedFileURL.path(percentEncoded: false))
            }
        } catch {
            throw Self.failure(target.name, error)
        }
    }

    private static func failure(_ name: String, _ error: any Error) -> RecordedProgramError {
        let problem = error as? Errno == .wouldBlock ? "another process records to it" : "\(error)"
        return RecordedProgramError(problem: "cannot record to \(name.isEmpty ? "\"\"" : name): \(problem).")
    }

    private static func inTemporaryDirectory() throws -> ReplacementFile {
        let directory = FileManager.default.temporaryDirectory.path(percentEncoded: false)
        return try ReplacementFile(directory + "/notify-demo.jsonl", suffix: ".partial-", permissions: 0o600)
    }

    /// - Throws: `Errno`; `.wouldBlock` if a process records there.
    private static func beside(_ path: String) throws -> Place {
        let isNew = FileStatus(path: path) == nil
        let lock = try FileDescriptor.open(
            FilePath(path), .readWrite, options: [.create, .closeOnExec], permissions: .ownerReadWrite)
        do {
            guard flock(lock.rawValue, LOCK_EX | LOCK_NB) == 0 else { throw Errno(rawValue: errno) }
            let file = try ReplacementFile(path, suffix: ".partial-", permissions: 0o600)
            return .file(file, path: path, lock: lock, isNew: isNew)
        } catch {
            try? lock.close()
            if isNew { unlink(path) }
            throw error
        }
    }

    /// Leaves everything as it was before.
    func discard() {
        temporary.discard()
        close()
    }

    private func close() {
        switch place {
        case .file(_, let path, let lock, let isNew):
            // Nothing took the place of the file that was made to be locked.
            if isNew, FileStatus(path: path)?.identity == FileStatus(descriptor: lock.rawValue)?.identity {
                unlink(path)
            }
            try? lock.close()
        case .stream(_, let stream):
            if stream.rawValue > STDERR_FILENO { try? stream.close() }
        }
    }

    /// Puts the files together and the recording in its place, or leaves that as it was if nothing was recorded.
    ///
    /// - Parameter willWait: called before the recording is copied to what may not take it yet, such as a FIFO. From
    ///   then on, nothing is left behind if a signal ends this process.
    /// - Throws: `Errno` or another error of the system. What was recorded is still in the files, if they are there.
    func finish(willWait: () -> Void) throws -> Outcome {
        defer { close() }
        // A process that still records goes on to: its file keeps its content, and may get another name.
        let isUnderWay = DeliveryRecording.isRecordedTo(path)
        let others = Self.others(of: path)
        let underWay = others.filter { DeliveryRecording.isRecordedTo($0) }
        let ended = others.filter { !underWay.contains($0) }
        let merged = isUnderWay ? [] : ended
        let descriptor = FileDescriptor(rawValue: temporary.descriptor)
        var outcome = Outcome(processes: 0, size: 0)
        do {
            outcome.processes = (try descriptor.seek(offset: 0, from: .end) > 0 ? 1 : 0) + merged.count
            for other in merged { try Self.append(other, to: descriptor) }
            outcome.size = Int(try descriptor.seek(offset: 0, from: .end))
            for other in merged { unlink(other) }
            if outcome.size == 0 {
                temporary.discard()
            } else {
                try putInPlace(isUnderWay: isUnderWay, willWait)
            }
        } catch {
            temporary.keep()
            throw error
        }
        if isUnderWay { outcome.underWay.append(finalName(of: path)) }
        outcome.underWay += underWay.map { finalName(of: $0) }
        if isUnderWay { outcome.apart = ended.map { finalName(of: $0) } }
        return outcome
    }

    private func putInPlace(isUnderWay: Bool, _ willWait: () -> Void) throws {
        switch place {
        case .file(let file, _, _, _):
            try file.place()
        case .stream(let file, let stream):
            let content = try Data(contentsOf: URL(filePath: file.path), options: .alwaysMapped)
            // A process that still records goes on to do so there.
            if isUnderWay { file.keep() } else { file.discard() }
            willWait()
            try stream.writeAll(content)
        }
    }

    /// Gives a file the name that it has beside the recording, `run.jsonl.4711`, if no file has it.
    private func finalName(of file: String) -> String {
        guard case .file(_, let destination, _, _) = place else { return file }
        let name = destination + file.dropFirst(path.count)
        if name == destination { return name }
        guard link(file, name) == 0 else { return file }
        unlink(file)
        return name
    }

    private static func append(_ file: String, to recording: FileDescriptor) throws {
        var content = try Data(contentsOf: URL(filePath: file), options: .alwaysMapped)
        let end = try recording.seek(offset: 0, from: .end)
        // The last line of the process before may be cut off.
        if end > 0 {
            var last: [UInt8] = [0]
            _ = try last.withUnsafeMutableBytes { try recording.read(fromAbsoluteOffset: end - 1, into: $0) }
            if last != [0x0A] { content = [0x0A] + content }
        }
        try recording.writeAll(content)
    }

    // MARK: Files of other processes

    /// The files of other processes that recorded to this one's name.
    static func others(of path: String) -> [String] {
        let directory = FilePath(path).removingLastComponent().string
        let prefix = (FilePath(path).lastComponent?.string ?? "") + "."
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.filter { $0.hasPrefix(prefix) }.sorted().compactMap { name in
            let file = FilePath(directory).appending(name).string
            let process = name.dropFirst(prefix.count).split(separator: ".", omittingEmptySubsequences: false).last
            guard let process = process.flatMap({ UInt64($0) }), recorder(of: file) == process else { return nil }
            return file
        }
    }

    /// The id of the process that began a recording, as its first line tells; nil if the file is no recording.
    private static func recorder(of file: String) -> UInt64? {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { _ = Glibc.close(descriptor) }
        guard FileStatus(descriptor: descriptor)?.isRegular == true else { return nil }
        let beginning = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
            count = max(0, pread(descriptor, buffer.baseAddress, 4096, 0))
        }
        guard let end = beginning.firstIndex(of: 0x0A) else { return nil }
        return beginning[..<end].withUnsafeBufferPointer { line in
            let numbers = (try? RecordFields(line))?.numbers
            return numbers?.recording == nil ? nil : numbers?.process
        }
    }
}
