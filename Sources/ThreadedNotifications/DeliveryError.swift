/// Why something could not be delivered or waited for: what failed, on what, why, and what to do.
public enum DeliveryError: Error, Hashable, Sendable {
    /// `start()` was called on a thread that runs, or has run.
    case threadAlreadyStarted(thread: String)

    /// The system made no thread; `code` is its `errno`.
    case threadNotCreated(thread: String, code: Int32)

    /// Something needs a thread that nobody has started.
    case threadNotStarted(thread: String)

    /// Something needs a thread that was told to stop, or has ended.
    case threadStopped(thread: String)

    /// A thread would wait for its own end.
    case waitForItself(thread: String)

    /// A thread did not end within the time allowed.
    case threadStillRunning(thread: String, after: Duration)
}

extension DeliveryError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .threadAlreadyStarted(let thread):
            "cannot start the thread \"\(thread)\": it was started before, and a thread runs once. Make a new one."
        case .threadNotCreated(let thread, let code):
            "cannot start the thread \"\(thread)\": the system made no thread (error \(code)). "
                + "Let other threads end first, or raise the limit (ulimit -u)."
        case .threadNotStarted(let thread):
            "the thread \"\(thread)\" was not started. Call start() first."
        case .threadStopped(let thread):
            "the thread \"\(thread)\" was told to stop, so it takes no further work. Use another thread, or stop it later."
        case .waitForItself(let thread):
            "the thread \"\(thread)\" would wait for its own end, for ever. Wait on another thread; here call stop()."
        case .threadStillRunning(let thread, let limit):
            "the thread \"\(thread)\" has not ended within \(limit). "
                + "Call stop() first; if that was done, a handler or a nested run loop of it does not return."
        }
    }
}
