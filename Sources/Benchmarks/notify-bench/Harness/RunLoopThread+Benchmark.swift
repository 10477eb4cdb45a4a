internal import ThreadedNotifications

extension RunLoopThread {
    /// A thread that runs.
    static func started(_ name: String = "target") throws -> RunLoopThread {
        let thread = RunLoopThread(name: name)
        try thread.start()
        return thread
    }

    func end() throws {
        stop()
        try waitUntilFinished(timeout: .seconds(10))
    }
}
