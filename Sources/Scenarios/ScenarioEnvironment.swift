package import ChildProcesses
internal import Foundation
internal import ThreadedNotifications

package struct ScenarioEnvironment: Sendable {
    package var options = ScenarioOptions()
    /// The longest that one wait of the scenario may take.
    package var timeout = Duration.seconds(60)
    /// The program of the scenarios' other processes. Its first argument is a `subcommand`.
    package let program: ChildProgram
    /// Receives the progress of a long scenario, from 0 to 1, on the main thread.
    package var progress: @Sendable (Double) -> Void = { _ in }
    /// Receives the lines of a scenario that shows itself, on the main thread.
    package var show: @Sendable (String) -> Void = { _ in }

    package init(program: ChildProgram) { self.program = program }

    /// Runs `body` with a started thread of each name. Then stops the threads, and waits until they have ended.
    func withThreads<Value>(_ names: [String], _ body: ([RunLoopThread]) throws -> Value) throws -> Value {
        let threads = names.map { RunLoopThread(name: $0) }
        defer { for thread in threads { thread.stop() } }
        for thread in threads { try thread.start() }
        let value = try body(threads)
        for thread in threads { thread.stop() }
        for thread in threads { try thread.waitUntilFinished(timeout: timeout) }
        return value
    }

    func withThread<Value>(_ name: String, _ body: (RunLoopThread) throws -> Value) throws -> Value {
        try withThreads([name]) { try body($0[0]) }
    }
}

extension RunLoop {
    /// Adds a timer that is already due.
    func addTimer(_ fire: @escaping @Sendable () -> Void) {
        add(Timer(fire: Date(), interval: 0, repeats: false) { _ in fire() }, forMode: .default)
    }
}

extension Notification.Name {
    /// The notification of the documents' examples.
    static let test = Notification.Name("TestNotification")
}
