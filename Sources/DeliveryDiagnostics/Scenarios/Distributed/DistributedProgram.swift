public import DistributedNotifications
internal import Foundation
internal import ThreadedNotifications

/// What the second process of a distributed scenario does: what it is told to, line by line, and nothing else meanwhile. So it
/// is sure when it handles what it observes.
public enum DistributedProgram {
    /// Begins the line that says that what was told is done, or why not; every other line is a recording's.
    static let answerMark: Character = "="
    static let done = "=done"

    static func handled(_ notification: DistributedNotification) -> String {
        "handled \(DistributedPost.label(of: notification)) of process \(notification.sender): "
            + DistributedPost.text(of: notification.userInfo)
    }

    static func posted(_ labels: [String]) -> String { "posted \(LabelRun.text(of: labels))" }

    /// Runs on the main thread until there is no line any more.
    ///
    /// - Parameters:
    ///   - place: where its server is.
    ///   - limit: how long any one wait may take.
    ///   - readLine: the next line, without its newline; it may block. Nil: there is none.
    ///   - write: takes whole lines: records, and answers.
    public static func perform(
        at place: ServerPlace, limit: Duration, readLine: () -> String?, write: ([UInt8]) throws -> Void
    ) throws {
        guard Thread.isMainThread else { throw ScenarioError.notOnMainThread }
        let recorder = DeliveryRecorder()
        var lines = RecordLines()
        var written = 0
        let center = DistributedCenter(place: place)
        var tokens: [ObserverToken] = []
        try DeliveryTracer.record(into: recorder) {
            recorder.record(.processStart)
            while let line = readLine() {
                var answer = done
                do {
                    try perform(try DistributedCommand(line: line), center, &tokens, recorder, limit)
                } catch {
                    answer = "\(answerMark)\(error)"
                }
                let records = recorder.records
                try write(records[written...].flatMap { lines.bytes(of: $0) } + Array("\(answer)\n".utf8))
                written = records.count
            }
            tokens = []
            center.close()
        }
        try write(recorder.records[written...].flatMap { lines.bytes(of: $0) })
    }

    private static func perform(
        _ command: DistributedCommand, _ center: DistributedCenter, _ tokens: inout [ObserverToken],
        _ recorder: DeliveryRecorder, _ limit: Duration
    ) throws {
        switch command {
        case .observe:
            tokens.append(
                try center.addObserver(forName: TestNotification.foundationName) { recorder.log(handled($0)) })
            try center.synchronize(limit: limit)
            recorder.log("observes")
        case .post(let posts):
            for post in posts { try center.post(post, recording: recorder) }
            recorder.log(posted(posts.map(\.label)))
            try center.synchronize(limit: limit)
        case .handle:
            try center.handleAll(limit: limit)
        }
    }
}

extension DistributedCenter {
    /// Posts, and records that: the library traces no post to other processes.
    func post(_ post: DistributedPost, recording recorder: DeliveryRecorder) throws {
        recorder.record(.post, notification: post.name, message: DistributedPost.text(of: post.userInfo))
        try self.post(
            name: Notification.Name(post.name), object: post.object, userInfo: post.userInfo,
            deliverImmediately: post.isImmediate)
    }

    /// Runs the main thread's run loop until all is handled that was for it when the server had done what this center asked for.
    func handleAll(limit: Duration) throws {
        try synchronize(limit: limit)
        let handled = Gate("what was delivered")
        // It joins the end of what waits for the main thread.
        try TargetThread.main.perform { handled.open() }
        try RunLoop.runCurrent(until: { handled.isOpen }, waitingFor: "what was delivered", limit: limit)
    }
}
