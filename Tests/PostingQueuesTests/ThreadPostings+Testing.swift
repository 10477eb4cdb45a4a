import ThreadedNotifications

@testable import PostingQueues

extension ThreadPostings {
    /// Those of the calling thread.
    static var current: ThreadPostings { ServedThread.current(isServed: true).service(ThreadPostings.self) }
}
