internal import Foundation
internal import Glibc
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

    /// Not by Subprocess, which closes what this process has open besides: a program is recorded as a shell starts it.
    private func start(_ path: String) throws(RecordedProgramError) -> End {
        var process: pid_t = 0
        let requests = EndRequests()
        let result = spawn(path, &process, requests)
        guard result == 0 else {
            requests.end()
            throw RecordedProgramError(problem: "cannot run \(name): \(Errno(rawValue: result)).")
        }
        requests.passOn(to: process)
        defer { requests.end() }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else {
                throw RecordedProgramError(problem: "cannot wait for \(name): \(Errno(rawValue: errno)).")
            }
        }
        // As WIFSIGNALED, WTERMSIG and WEXITSTATUS have it.
        let signal = status & 0x7F
        return signal == 0 ? .exit(status >> 8 & 0xFF) : .signal(signal)
    }

    /// - Returns: the system's error number, or 0.
    private func spawn(_ path: String, _ process: inout pid_t, _ requests: EndRequests) -> Int32 {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var defaults = sigset_t()
        sigemptyset(&defaults)
        // Swift's runtime libraries ignore a closed pipe; the program is not to inherit it.
        for signal in requests.changed + [SIGPIPE] { sigaddset(&defaults, signal) }
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
        var arguments = ([name] + arguments).map { strdup($0) } + [nil]
        var environment =
            Self.environment(recording: path).map { bytes in
                bytes.withUnsafeBufferPointer {
                    strdup(UnsafeRawPointer($0.baseAddress!).assumingMemoryBound(to: CChar.self))
                }
            } + [nil]
        defer { for string in arguments + environment { free(string) } }
        return posix_spawnp(&process, name, nil, &attributes, &arguments, &environment)
    }

    /// This process's environment, byte by byte as it was given, and where to record to. Each ends with a zero.
    private static func environment(recording path: String) -> [[UInt8]] {
        let own = (try? Data(contentsOf: URL(filePath: "/proc/self/environ"))).map { Array($0) } ?? []
        let name = DeliveryRecording.environmentVariable
        let others = own.split(separator: 0).filter { !$0.starts(with: "\(name)=".utf8) }
        return others.map { Array($0) + [0] } + [Array("\(name)=\(path)".utf8) + [0]]
    }
}

/// Why a program was not run, or its recording is not whole.
public struct RecordedProgramError: Error, Sendable, CustomStringConvertible {
    /// What failed, on what and why.
    public var problem: String

    public var description: String { problem }
}

/// The signals that ask a process to end, passed on to another, so that this one can tell how that one ended. Those that a
/// terminal sends to both are not passed on, and what was ignored stays so.
private struct EndRequests {
    private static let fromTerminal = [SIGINT, SIGQUIT]
    private static let toOne = [SIGTERM, SIGHUP]

    /// The signals that this process does otherwise with now than it did.
    let changed: [Int32]

    init() {
        changed = (Self.fromTerminal + Self.toOne).filter { signal in
            var before = sigaction()
            sigaction(signal, nil, &before)
            // SIG_IGN is the address 1.
            return unsafeBitCast(before.__sigaction_handler.sa_handler, to: Int.self) != 1
        }
        for signal in changed where Self.fromTerminal.contains(signal) { Glibc.signal(signal, SIG_IGN) }
        for signal in changed where Self.toOne.contains(signal) {
            Glibc.signal(signal) { signal in
                let process = processToEnd.load(ordering: .relaxed)
                if process > 0 { kill(process, signal) }
            }
        }
    }

    func passOn(to process: Int32) {
        processToEnd.store(process, ordering: .relaxed)
    }

    func end() {
        processToEnd.store(0, ordering: .relaxed)
        for signal in changed { Glibc.signal(signal, SIG_DFL) }
    }
}

private let processToEnd = Atomic<Int32>(0)
