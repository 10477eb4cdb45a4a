internal import DeliveryRecording
internal import DistributedNotifications
internal import Foundation
internal import ThreadedNotifications

/// The program of the scenario's second process. Each line on its standard input lets it take its next step, so that
/// the scenario decides when it runs its run loop.
package enum DistributedProgram {
    package static let subcommand = "distributed-child"
    static let labels = ["1", "2", "3"]
    /// The answer when a step is done.
    static let done = "done"

    /// Runs on the main thread until standard input ends.
    ///
    /// - Parameter arguments: the directory of the server, and the path of the file to record to.
    package static func run(_ arguments: some Collection<String>) throws {
        let (words, timeout) = (Array(arguments), Duration.seconds(20))
        guard words.count == 2 else { return }
        try ScenarioRecording.start(to: words[1])
        let center = try DistributedCenter(directory: ServerDirectory(path: words[0]))
        try ScenarioRecording.trace {
            var tokens: [ObserverToken] = []
            ScenarioRecording.record(.processStart)
            var steps = [
                { tokens.append(try center.observe(timeout: timeout)) },
                { try center.post(labels, timeout: timeout) },
            ][...]
            while readLine() != nil {
                try steps.popFirst().map { try $0() } ?? center.handleAll(timeout: timeout)
                try FileHandle.standardOutput.write(contentsOf: Data("\(done)\n".utf8))
            }
            tokens = []
            center.close()
        }
    }
}

extension DistributedCenter {
    /// Logs what is handled on the main thread.
    func observe(timeout: Duration) throws -> ObserverToken {
        let token = try addObserver(forName: .test) { notification in
            let userInfo = notification.userInfo ?? [:]
            ScenarioRecording.log(
                "handled \(userInfo["label"]?.stringValue ?? "nothing") of process \(notification.sender): "
                    + "\(PropertyListValue.dictionary(userInfo))")
        }
        try synchronize(timeout: timeout)
        ScenarioRecording.log("observes")
        return token
    }

    /// Posts, with one value of each kind of property list, and waits until the server has received the posts. Records
    /// them, because the library does not trace posts to other processes.
    func post(_ labels: [String], timeout: Duration) throws {
        for label in labels {
            let userInfo: [String: PropertyListValue] = [
                "label": .string(label), "isHot": true, "sizes": [1, 2.5],
                "when": .date(Date(timeIntervalSince1970: 1_455_401_112)),
            ]
            ScenarioRecording.record(.post, notification: .test, message: "\(PropertyListValue.dictionary(userInfo))")
            try post(name: .test, userInfo: userInfo)
        }
        ScenarioRecording.log("posted \(labels.joined(separator: " "))")
        try synchronize(timeout: timeout)
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
