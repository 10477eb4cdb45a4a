public import Foundation

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

    /// A thread ended, or was told to stop, before it did what was waited for.
    case threadEnded(thread: String)

    /// A wait would close a cycle of waits, and was not begun. Each thread of the cycle waits for the next, the last
    /// for the first; the first is the wait that failed.
    case waitWouldDeadlock([Wait])

    /// What was waited for did not happen within the time allowed; `pending` is what had not happened by then.
    case notDeliveredInTime(pending: [Pending], after: Duration)

    /// A notification that was waited for was dropped by the overflow policy of these observers.
    case dropped(notification: String, observers: [UInt64])

    /// An observer's handler did not return within the time allowed.
    case handlerStillRunning(observer: UInt64, after: Duration)

    /// What happens could not be recorded in this file, or not all of it.
    case recordingFailed(path: String, problem: String)

    /// An actor runs on no `RunLoopThread` and not on the main thread.
    case actorNotPinned(actor: String)

    /// Who waits for what, and where in the source.
    public struct Wait: Hashable, Sendable {
        /// Who waits.
        public var thread: ThreadIdentity
        /// What it waits for, as errors call it.
        public var waitsFor: String
        /// The file of the call that waits, as `#fileID`.
        public var file: String
        /// The line of that call.
        public var line: Int
    }

    /// Something that was waited for and had not happened.
    public struct Pending: Hashable, Sendable {
        /// The notification's name; nil for a block.
        public var notification: String?
        /// `ObserverToken.id`; nil for a block.
        public var observer: UInt64?
        /// The thread that should have handled it.
        public var thread: String
    }
}

extension DeliveryError: CustomStringConvertible, LocalizedError {
    /// The cycle that a wait would have closed, in words.
    var cycle: String? {
        if case .waitWouldDeadlock(let cycle) = self { Self.text(of: cycle) } else { nil }
    }

    private static func text(of cycle: [Wait]) -> String {
        cycle.map { "\($0.thread) waits for \($0.waitsFor) (\($0.file):\($0.line))" }.joined(separator: "; ")
    }

    /// What `localizedDescription` shows.
    public var errorDescription: String? { description }

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
            "the thread \"\(thread)\" was told to stop, or has ended, so it takes nothing more. "
                + "Use another thread, or stop it later."
        case .waitForItself(let thread):
            "the thread \"\(thread)\" would wait for its own end, for ever. Wait on another thread; here call stop()."
        case .threadStillRunning(let thread, let limit):
            "the thread \"\(thread)\" has not ended within \(limit). "
                + "Call stop() first; if that was done, a handler or a nested run loop of it does not return."
        case .threadEnded(let thread):
            "the thread \(thread) ended, or was told to stop, before it did what was waited for. "
                + "Stop it after the wait, or do not wait for it."
        case .waitWouldDeadlock(let cycle):
            "the wait would never end: "
                + Self.text(of: cycle)
                + ". Do not wait in one of these places: post or perform without waiting."
        case .notDeliveredInTime(let pending, let limit):
            "not delivered within \(limit): \(pending.map(\.description).joined(separator: ", ")). The thread does not "
                + "run its run loop in a mode of the observer, or a handler does not return. Run its run loop"
                + (pending.contains { $0.thread.hasPrefix("{number = 1,") }
                    ? " (the main thread's needs a main function that is not async), " : ", ")
                + "or allow more time."
        case .dropped(let notification, let observers):
            "\(notification) was dropped by the overflow policy of observer \(observers.map(String.init).joined(separator: ", "))"
                + ": its mailbox is full. Post less, handle faster, or give it more capacity."
        case .handlerStillRunning(let observer, let limit):
            "the handler of observer \(observer) has not returned within \(limit). The observer is removed; allow more time, "
                + "or find what its handler waits for."
        case .recordingFailed(let path, let problem):
            "cannot record to \(path): \(problem). Name a file that can be written, on a disk with room."
        case .actorNotPinned(let actor):
            "the actor \(actor) runs on no RunLoopThread, so nothing can be delivered to it on its thread. Give it a "
                + "`let thread: RunLoopThread` and `nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }`."
        }
    }
}

extension DeliveryError.Pending: CustomStringConvertible {
    public var description: String {
        switch (notification, observer) {
        case (let notification?, let observer?): "\(notification) to observer \(observer) on \(thread)"
        case (let notification?, nil): "\(notification) on \(thread)"
        default: "a block on \(thread)"
        }
    }
}
