internal import Dispatch
internal import Foundation
internal import Glibc
internal import Subprocess
internal import Synchronization
internal import SystemPackage
internal import ThreadedNotifications

/// A program that is run with its deliveries recorded, unchanged: the library in it asks its environment where to record to.
public struct RecordedProgram: Sendable {
    /// How the program ended.
    public enum End: Sendable, Hashable {
        case exit(Int32)
        case signal(Int32)
    }

    /// What came of it.
    public struct Outcome: Sendable {
        public var end: End
        /// How many processes recorded something: the program, and what it started or forked.
        public var processes: Int
        /// In bytes.
        public var size: Int
        /// Files that processes which the program started, and which have not ended, record to.
        public var underWay: [String]
    }

    /// The program's name, to be looked for in `PATH`, or its path.
    public var name: String
    public var arguments: [String]
    /// The recording, which is made or replaced.
    public var file: String

    public init(name: String, arguments: [String], file: String) {
        self.name = name
        self.arguments = arguments
        self.file = file
    }

    /// Runs it to its end, blocking the calling thread; input and output are this process's. A request to end is passed on.
    ///
    /// - Throws: `RecordedProgramError`.
    public func run() throws(RecordedProgramError) -> Outcome {
        // A path of its own, since the program may change its directory.
        let path = URL(filePath: file).standardizedFileURL.path(percentEncoded: false)
        do throws(DeliveryError) {
            try DeliveryRecording.prepare(file.isEmpty ? file : path)
        } catch {
            guard case .recordingFailed(_, let problem) = error else {
                throw RecordedProgramError(problem: error.description)
            }
            throw RecordedProgramError(problem: "cannot record to \(file.isEmpty ? "\"\"" : file): \(problem).")
        }
        let before = Set(Self.others(of: path))
        let end = try start(path)
        var others = Self.others(of: path).filter { !before.contains($0) }
        // Who still records to a file goes on to: it is left as it is.
        let isUnderWay = DeliveryRecording.isRecordedTo(path)
        let underWay = (isUnderWay ? [path] : []) + others.filter { DeliveryRecording.isRecordedTo($0) }
        if isUnderWay { others = [] }
        others.removeAll { underWay.contains($0) }
        do {
            let recording = try FileHandle(forUpdating: URL(filePath: path))
            var processes = try recording.seekToEnd() > 0 ? 1 : 0
            for other in others {
                let content = try Data(contentsOf: URL(filePath: other), options: .alwaysMapped)
                // The last line of who went before may be cut off.
                if try recording.offset() > 0 { try Self.endLine(recording) }
                try recording.write(contentsOf: content)
                try FileManager.default.removeItem(atPath: other)
                processes += 1
            }
            let size = try recording.seekToEnd()
            try recording.close()
            return Outcome(end: end, processes: processes, size: Int(size), underWay: underWay)
        } catch {
            throw RecordedProgramError(
                problem: "the program has ended, and its recording in \(file) cannot be put together: \(error).")
        }
    }

    private static func endLine(_ file: FileHandle) throws {
        try file.seek(toOffset: file.offset() - 1)
        if try file.read(upToCount: 1) != Data([0x0A]) { try file.write(contentsOf: Data([0x0A])) }
    }

    /// The files of other processes that recorded to this one's name: `run.jsonl.4711`.
    private static func others(of path: String) -> [String] {
        let url = URL(filePath: path)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path)) ?? []
        let prefix = url.lastPathComponent + "."
        return names.filter { name in
            name.hasPrefix(prefix) && name.dropFirst(prefix.count).allSatisfy { $0.isNumber || $0 == "." }
        }.sorted().map { url.deletingLastPathComponent().appending(component: $0).path(percentEncoded: false) }
    }

    private func start(_ path: String) throws(RecordedProgramError) -> End {
        let outcome = Locked<Swift.Result<End, RecordedProgramError>?>(nil)
        let ended = DispatchSemaphore(value: 0)
        let executable: Executable = name.contains("/") ? .path(FilePath(name)) : .name(name)
        let (name, arguments) = (name, Arguments(arguments))
        EndRequests.begin()
        // Subprocess is asynchronous only, and a command is synchronous.
        Task.detached { @Sendable in
            let result: Swift.Result<End, RecordedProgramError>
            do {
                let run = try await Subprocess.run(
                    executable, arguments: arguments,
                    environment: .inherit.updating([
                        Environment.Key(stringLiteral: DeliveryRecording.environmentVariable): path
                    ]),
                    input: .currentStandardInput, output: .currentStandardOutput, error: .currentStandardError
                ) { execution in
                    EndRequests.passOn(to: execution.processIdentifier.value)
                }
                let end: End =
                    switch run.terminationStatus {
                    case .exited(let code): .exit(code)
                    case .signaled(let signal): .signal(signal)
                    }
                result = .success(end)
            } catch {
                result = .failure(RecordedProgramError(problem: "cannot run \(name): \(error)."))
            }
            outcome.withLock { $0 = result }
            ended.signal()
        }
        ended.wait()
        EndRequests.end()
        guard let result = outcome.withLock({ $0 }) else {
            throw RecordedProgramError(problem: "\(name) ended without a result.")
        }
        return try result.get()
    }
}

/// Why a program was not run, or its recording is not whole.
public struct RecordedProgramError: Error, Sendable, CustomStringConvertible {
    /// What failed, on what and why.
    public var problem: String

    public var description: String { problem }
}

/// The signals that ask a process to end, passed on to another, so that this one can tell how that one ended. Those that a
/// terminal sends to both are not passed on.
private enum EndRequests {
    private static let fromTerminal = [SIGINT, SIGQUIT]
    private static let toOne = [SIGTERM, SIGHUP]

    static func begin() {
        for signal in fromTerminal { Glibc.signal(signal, SIG_IGN) }
        for signal in toOne {
            Glibc.signal(signal) { signal in
                let process = processToEnd.load(ordering: .relaxed)
                if process > 0 { kill(process, signal) }
            }
        }
    }

    static func passOn(to process: Int32) {
        processToEnd.store(process, ordering: .relaxed)
    }

    static func end() {
        processToEnd.store(0, ordering: .relaxed)
        for signal in fromTerminal + toOne { Glibc.signal(signal, SIG_DFL) }
    }
}

private let processToEnd = Atomic<Int32>(0)
