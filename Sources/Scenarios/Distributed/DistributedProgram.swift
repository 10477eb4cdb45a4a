internal import DeliveryRecording
package import DistributedNotifications
internal import Foundation
internal import ThreadedNotifications

/// The program of a distributed scenario's second process. It runs one command at a time and runs its run loop only
/// when told to, so that the scenario decides when it handles notifications.
package enum DistributedProgram {
    package static let subcommand = "distributed-child"

    /// A command: a line of JSON on standard input.
    enum Command: Codable {
        case observe
        /// Posts these, and waits until the server has received them.
        case post([DistributedPost])
        /// Runs the run loop until everything that the server has handed over is handled.
        case handle
    }

    /// The first character of an answer: a command is done, or has failed and why. All other lines are a recording.
    static let answerMark: Character = "="
    static let done = "=done"

    static func handled(_ notification: DistributedNotification) -> String {
        "handled \(DistributedPost.label(of: notification)) of process \(notification.sender): "
            + DistributedPost.text(of: notification.userInfo)
    }

    /// Runs on the main thread until `readLine` returns nil.
    ///
    /// - Parameter write: takes whole lines: records and answers.
    package static func perform(
        at directory: ServerDirectory, timeout: Duration, readLine: () -> String?, write: ([UInt8]) throws -> Void
    ) throws {
        let recorder = DeliveryRecorder()
        var lines = RecordLines()
        var written = 0
        let center = try DistributedCenter(directory: directory)
        var tokens: [ObserverToken] = []
        try recorder.trace {
            recorder.record(.processStart)
            while let line = readLine() {
                var answer = done
                do {
                    switch try JSONDecoder().decode(Command.self, from: Data(line.utf8)) {
                    case .observe:
                        tokens.append(try center.addObserver(forName: .test) { recorder.log(handled($0)) })
                        try center.synchronize(timeout: timeout)
                        recorder.log("observes")
                    case .post(let posts):
                        try center.post(posts, recording: recorder)
                        try center.synchronize(timeout: timeout)
                    case .handle:
                        try center.handleAll(timeout: timeout)
                    }
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
}

extension DistributedCenter {
    /// Posts, and records the posts: the library does not trace posts to other processes.
    func post(_ posts: [DistributedPost], recording recorder: DeliveryRecorder) throws {
        for post in posts {
            let name = Notification.Name(post.name)
            recorder.record(.post, notification: name, message: DistributedPost.text(of: post.userInfo))
            try self.post(
                name: name, object: post.object, userInfo: post.userInfo, deliverImmediately: post.isImmediate)
        }
        recorder.log("posted \(DistributedPost.text(of: posts.map(\.label)))")
    }

    /// Runs the main thread's run loop until it has handled everything that the server has sent so far.
    func handleAll(timeout: Duration) throws {
        try synchronize(timeout: timeout)
        let handled = Gate("what was delivered")
        // The mailbox is first in, first out, so this block runs after everything that already waits.
        try MainThread.main.perform { handled.open() }
        try handled.runLoop(timeout: timeout)
    }
}
