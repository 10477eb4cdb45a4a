internal import CDeliveryRecorder
internal import CRecorderInterface
package import ChildProcesses
package import DeliveryRecording
internal import Foundation
internal import ThreadedNotifications

/// The recording of a scenario, in a file that no directory has. A process has one at a time.
///
/// It has the records that the scenario makes itself, and what the library traces during `trace`. A preloaded recorder
/// records beside it.
///
/// Threads: every function may be called on any thread.
package enum ScenarioRecording {
    /// The file, and the recordings of other processes.
    private static let state = Locked<(file: FileHandle?, others: [UInt8])>((nil, []))

    /// Where the second processes of this process record to.
    static func path(ofProcess name: String) -> String {
        FileManager.default.temporaryDirectory.path + "/notify-demo-\(getpid())-\(name).jsonl"
    }

    package static func start() throws(ScenarioError) {
        let path = path(ofProcess: UUID().uuidString)
        try start(to: path)
        defer { unlink(path) }
        state.withLock { $0 = (FileHandle(forUpdatingAtPath: path), []) }
    }

    /// Starts recording to a file that another process reads.
    static func start(to path: String) throws(ScenarioError) {
        try check { delivery_recorder().pointee.start(path, $0, $1) }
    }

    /// Stops recording, and reads the recording with those of the other processes.
    package static func finish() throws -> RecordedRun {
        let (file, others) = state.withLock { state in
            defer { state = (nil, []) }
            return state
        }
        try check { delivery_recorder().pointee.stop($0, $1) }
        guard let file else { throw ScenarioError.recording(problem: "its file cannot be read") }
        try file.seekToEnd()
        try file.write(contentsOf: others)
        return try RecordedRun(file)
    }

    /// - Parameter call: returns false, and copies the problem to memory of a size.
    private static func check(_ call: (UnsafeMutablePointer<CChar>, Int) -> Bool) throws(ScenarioError) {
        let problem = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1024) { text -> String? in
            guard let start = text.baseAddress else { return nil }
            return call(start, text.count) ? nil : String(cString: start)
        }
        if let problem { throw .recording(problem: problem) }
    }

    /// Adds the recording of another process, with its end.
    static func add(_ path: String, ofProcess id: Int32, end: ChildProcess.End) throws(ChildProcessError) {
        var lines = FileManager.default.contents(atPath: path).map(Array.init) ?? []
        // A process that a signal ended leaves zeros.
        while lines.last == 0 { lines.removeLast() }
        if lines.isEmpty { throw ChildProcessError("the second process: it recorded nothing") }
        var tail = RecordingTail()
        tail.take(lines)
        var count: Int?
        if case .exit(let status) = end { count = Int(status) }
        let last = tail.record(
            .processEnd, Recording.Reason(end), count: count, now: DispatchTime.now().uptimeNanoseconds)
        state.withLock { $0.others += lines + last }
    }

    /// Records a stage that happens now, on the calling thread.
    static func record(
        _ stage: DeliveryStage, notification: Notification.Name? = nil, post: Int? = nil, count: Int? = nil,
        observer: Int? = nil, target: ThreadIdentity? = nil, message: String? = nil
    ) {
        let (thread, strings) = (ThreadIdentity.current, [notification?.rawValue, message])
        let length = (strings + [thread.name, target?.name])
            .reduce(RecorderTexts.constantLength) { $0 + RecorderTexts.length($1) }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: length) { memory in
            guard let start = memory.baseAddress else { return }
            var texts = RecorderTexts(start)
            var record = recorder_record()
            record.stage = texts.text(stage.rawValue)
            record.thread = texts.thread(thread)
            (record.name, record.message) = (texts.text(strings[0]), texts.text(strings[1]))
            if let target { record.target = texts.thread(target) }
            (record.post, record.observer) = (UInt64(post ?? 0), UInt64(observer ?? 0))
            (record.has_count, record.count) = (count != nil, UInt64(count ?? 0))
            delivery_recorder().pointee.append(&record)
        }
    }

    static func log(_ message: String) { record(.log, message: message) }

    /// Records the log message that the documents' programs use most.
    static func logCurrentThread() { log("current thread = \(ThreadIdentity.current)") }

    /// Records what the library traces while `body` runs. The library has one tracer for the process, so all deliveries
    /// in the process are recorded.
    ///
    /// - Parameter body: its threads have ended when it returns, else what they do is recorded or not by chance.
    static func trace<Value>(during body: () throws -> Value) rethrows -> Value {
        let before = DeliveryEvent.tracer
        DeliveryEvent.tracer = { Recorder.append($0, to: delivery_recorder()) }
        defer { DeliveryEvent.tracer = before }
        return try body()
    }
}

extension Recording.Reason {
    package init(_ end: ChildProcess.End) {
        self =
            switch end {
            case .exit: .exit
            case .signal(let number): .signal(UInt8(clamping: number))
            case .timedOut: .signal(UInt8(SIGKILL))
            }
    }
}
