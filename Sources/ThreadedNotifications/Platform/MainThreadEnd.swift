internal import Dispatch
internal import Synchronization

/// The end of the main thread while the program continues.
///
/// If the main function is `async` and the program does not link `AsyncMain`, or if it calls `dispatchMain()`, the
/// system ends the main thread, and threads of Dispatch serve the main queue and the main actor. Nothing can be
/// delivered on the main thread then. Its mailbox is finished, so that later notifications have the outcome
/// `targetGone`, and the first one that is lost causes a warning.
enum MainThreadEnd {
    /// Called when the main thread's mailbox is created. The mailbox is finished when the main thread has ended.
    static func watch() {
        // Only the main thread serves the main queue, until it ends. If it never does either, the block never runs. A
        // main thread with a context ends its mailbox itself.
        DispatchQueue.main.async {
            if SystemThread.currentIsMain { ThreadContext.withCurrent { _ in } } else { found() }
        }
    }

    /// Called when code of the main queue or of the main actor runs on another thread.
    static func found() {
        // A main thread with a context finishes its mailbox when it ends, because only it can take what it drains.
        if !ThreadContext.isMainKnown, let lost = Mailbox.main.end() { Mailbox.main.reportEnd(lost) }
    }

    /// Warns on standard error, once in this process, unless `THREADED_NOTIFICATIONS_WARNINGS` is 0.
    static func warn() {
        if !hasWarned.exchange(true, ordering: .relaxed) { StandardError.warn(warning) }
    }

    /// The main thread has ended, but not as the warning says.
    static func disableWarning() {
        hasWarned.store(true, ordering: .relaxed)
    }

    static let warning =
        "a notification or block for the main thread is lost, because the main thread has ended. The main function is "
        + "async or called dispatchMain(), so the main run loop never runs. Link the library AsyncMain to a program "
        + "with an async main, or to a target of Swift Testing. Or write a synchronous main function that starts a Task "
        + "and calls MainRunLoop.run(). THREADED_NOTIFICATIONS_WARNINGS=0 disables this warning."
}

private let hasWarned = Atomic(false)
