import CLinux
import ChildProcesses
import DeliveryRecording
import Foundation
import Scenarios
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
        /// Files of processes that have not ended. The recording has what they contained when it was copied.
        var stillRecording: [String] = []
        /// The number of records, and of those of posts.
        var records = 0, posts = 0
        /// True if there are no records, or only those of ends.
        var isEmpty = true
        /// Messages that say which calls could not be recorded, and why.
        var unrecorded: Set<String> = []
    }

    /// The user's path.
    private let name: String
    private let directory: String

    /// The path that the program records to.
    var path: String { directory + "/recording.jsonl" }

    /// Creates the directory and an empty file.
    ///
    /// - Parameter name: the user's path; `-` is standard output.
    /// - Throws: `CommandError` if there cannot be a file.
    init(for name: String) throws(CommandError) {
        self.name = name
        let type = try? FilePath(name).stat().type
        // The program may have another working directory.
        let isRegular = !Output.isStandardOutput(name) && (type == nil || type == .regular)
        let place = isRegular ? URL(filePath: name) : .temporaryDirectory.appending(path: "notify-demo")
        var template = Array("\(place.standardizedFileURL.path).recording-XXXXXX".utf8CString)
        let problem: Errno? =
            type == .directory ? .isDirectory : mkdtemp(&template) == nil ? Errno(rawValue: errno) : nil
        if let problem { throw CommandError(description: "cannot record to \(name): \(problem).") }
        directory = FilePath(platformString: template).string
        _ = FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
    }

    /// Removes the files of a program that was not started.
    func discard() { try? FileManager.default.removeItem(atPath: directory) }

    /// Copies the files to the destination, and removes those whose processes have ended. If nothing was recorded, the
    /// destination is unchanged.
    ///
    /// From then on, a process that starts to record finds no file and reports that. A process that is already
    /// recording continues. The call blocks if the destination does, such as a FIFO without a reader.
    ///
    /// - Parameter program: the id of the program, whose end is appended if it could not record that.
    /// - Throws: `CommandError`. Everything recorded is still in the files, whose directory the error names.
    func finish(program: Int32, _ end: ChildProcess.End) throws(CommandError) -> Outcome {
        let now = CLinuxMonotonicNanoseconds()
        // The environment of running processes has the old name.
        let closed = directory + ".rest"
        let directory = rename(self.directory, closed) == 0 ? closed : self.directory
        do {
            let names = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
            let all = try names.map { try File("\(directory)/\($0)") }
            let files = all.filter { !$0.isEmpty }
            var outcome = Outcome(processes: files.count)
            if !files.isEmpty {
                let calls = files.reduce(into: Set()) { $0.formUnion($1.calls) }
                let sources =
                    Symbolizer.installed?.sources(of: calls, from: FileManager.default.currentDirectoryPath) ?? [:]
                let output = try Output(name, permissions: .ownerReadWrite)
                for file in files {
                    var tail = RecordingTail()
                    try FileHandle(forReadingFrom: URL(filePath: file.path)).forEachLines { lines in
                        tail.take(lines)
                        try output.write(sources.isEmpty ? lines : RecordedCalls.resolved(lines, sources))
                    }
                    let line = tail.end(of: program, Recording.Reason(end), now: now)
                    try output.write(line ?? [])
                    outcome.records += tail.recordCount + (line == nil ? 0 : 1)
                    outcome.posts += tail.postCount
                    outcome.isEmpty = outcome.isEmpty && tail.recordCount == tail.endCount
                    outcome.unrecorded.formUnion(tail.unrecorded)
                }
                try output.flush()
                // The records stay in the files.
                if output.isClosed { throw output.failure(Errno.brokenPipe) }
                try output.finish()
            }
            for file in all {
                if file.hasEnded { unlink(file.path) } else { outcome.stillRecording.append(file.path) }
            }
            rmdir(directory)
            return outcome
        } catch {
            throw CommandError(
                description: "the program has ended, but its recording is not written: \(error) The records are in "
                    + "\(directory).")
        }
    }

    /// The file of one process.
    private struct File {
        let path: String
        /// True if the process has ended.
        let hasEnded: Bool
        private(set) var isEmpty = true
        /// The addresses of calls.
        private(set) var calls: Set<String> = []

        init(_ path: String) throws {
            self.path = path
            // It is open only while it is read, because a program may have thousands of processes.
            let file = try FileHandle(forReadingFrom: URL(filePath: path))
            // A process that records has a lock.
            hasEnded = flock(file.fileDescriptor, LOCK_EX | LOCK_NB) == 0
            try file.forEachLines { lines in
                isEmpty = false
                calls.formUnion(RecordedCalls.addresses(in: lines))
            }
            try file.close()
        }
    }
}

extension FileHandle {
    /// Reads whole lines, in parts of about 1 MiB. A line that was being written when the process died, and unused
    /// room, are left out.
    func forEachLines(_ take: ([UInt8]) throws -> Void) throws {
        var lines: [UInt8] = []
        while let part = try read(upToCount: 1 << 20), !part.isEmpty {
            lines += part
            guard let end = lines.lastIndex(of: UInt8(ascii: "\n")) else { continue }
            try take(Array(lines[...end]))
            lines.removeFirst(end + 1)
        }
    }
}
