public import Foundation

/// An operation that failed: what failed, on what, why, and what to do.
///
///     do {
///         try worker.performAndWait(timeout: .seconds(5)) { … }
///     } catch let error as DeliveryError where error.code == .threadStopped {
///         …
///     }
///
/// `description`, also as `errorDescription`, is the whole message. The properties name what is concerned; a property
/// that does not apply is nil or empty.
public struct DeliveryError: LocalizedError, Hashable, Sendable, CustomStringConvertible {
    /// A kind of failure. Later versions may add codes.
    public struct Code: Hashable, Sendable {
        private let name: String

        /// `start()` was called on a thread that runs, or has run.
        public static let threadAlreadyStarted = Code(name: "threadAlreadyStarted")
        /// The system created no thread; `systemError` is its `errno`.
        public static let threadNotCreated = Code(name: "threadNotCreated")
        /// The call needs a thread that was not started.
        public static let threadNotStarted = Code(name: "threadNotStarted")
        /// The call needs a thread that was told to stop, or has ended.
        public static let threadStopped = Code(name: "threadStopped")
        /// A thread would wait for its own end.
        public static let waitForItself = Code(name: "waitForItself")
        /// A thread did not end before the timeout.
        public static let threadStillRunning = Code(name: "threadStillRunning")
        /// A thread ended, or was told to stop, before it did what was waited for.
        public static let threadEnded = Code(name: "threadEnded")
        /// The wait would have closed a cycle, and was not begun; `waits` is the cycle, `cause` in words.
        public static let waitWouldDeadlock = Code(name: "waitWouldDeadlock")
        /// A notification was not handled, or a block not performed, before the timeout; `pending` lists them.
        public static let notDeliveredInTime = Code(name: "notDeliveredInTime")
        /// The overflow policy of `observers` dropped a notification that was waited for.
        public static let dropped = Code(name: "dropped")
        /// The handler of `observers` did not return before the timeout.
        public static let handlerStillRunning = Code(name: "handlerStillRunning")
        /// The recording at `path` could not be written, or not completely.
        public static let recordingFailed = Code(name: "recordingFailed")
        /// The run loop of `thread` and a descriptor could not be connected; `cause` says why.
        public static let descriptorFailed = Code(name: "descriptorFailed")
    }

    /// The kind of failure.
    public let code: Code
    /// The name of the thread concerned.
    public private(set) var thread: String?
    /// The name of the notification concerned.
    public private(set) var notification: String?
    /// `ObserverToken.id` of the observers concerned.
    public private(set) var observers: [UInt64] = []
    /// The timeout that passed.
    public private(set) var timeout: Duration?
    /// Each thread of the cycle waits for the next one, and the last for the first; the first wait is the one that
    /// failed.
    public private(set) var waits: [Wait] = []
    /// The deliveries that were not made before the timeout.
    public private(set) var pending: [Pending] = []
    /// The file concerned.
    public private(set) var path: String?
    /// The system's `errno`.
    public private(set) var systemError: Int32?
    /// The reason in words, where the code does not say it.
    public private(set) var cause: String?
    public let description: String
    public var errorDescription: String? { description }

    /// A wait of one thread.
    public struct Wait: Hashable, Sendable {
        /// The thread that waits.
        public var thread: ThreadIdentity
        /// The target of the wait, in words.
        public var waitsFor: String
        /// The location of the call that waits, as `#fileID` and `#line`.
        public var file: String
        public var line: Int
    }

    /// A notification or block that was waited for, and that was not handled.
    public struct Pending: Hashable, Sendable, CustomStringConvertible {
        /// The notification's name; nil for a block.
        public var notification: String?
        /// `ObserverToken.id`; nil for a block.
        public var observer: UInt64?
        /// The thread that should have handled it.
        public var thread: String
        /// The handlers that the thread runs, as far as that is certain: a handler with a transform is not named,
        /// because its transform may run on another thread.
        public var running: [Handler] = []

        public var description: String {
            switch (notification, observer) {
            case (let notification?, let observer?): "\(notification) to observer \(observer) on \(thread)"
            case (let notification?, nil): "\(notification) on \(thread)"
            default: "a block on \(thread)"
            }
        }
    }

    /// A handler that runs.
    public struct Handler: Hashable, Sendable, CustomStringConvertible {
        /// `ObserverToken.id`.
        public var observer: UInt64
        /// The name that the observer asks for; nil: any.
        public var notification: String?
        /// Where the observer was added.
        public var location: SourceLocation

        public var description: String {
            "the handler of observer \(observer) of \(notification ?? "any name"), which was added at \(location)"
        }
    }
}

// One function for each code, so that a throw names everything that the code needs.
extension DeliveryError {
    static func threadAlreadyStarted(thread: String) -> DeliveryError {
        DeliveryError(
            code: .threadAlreadyStarted, thread: thread,
            description: "cannot start the thread \"\(thread)\": it was started before, and a thread runs once. "
                + "Make a new one.")
    }

    static func threadNotCreated(thread: String, code: Int32) -> DeliveryError {
        DeliveryError(
            code: .threadNotCreated, thread: thread, systemError: code,
            description: "cannot start the thread \"\(thread)\": the system created no thread (error \(code)). "
                + "Let other threads end first, or raise the limit (ulimit -u).")
    }

    package static func threadNotStarted(thread: String) -> DeliveryError {
        DeliveryError(
            code: .threadNotStarted, thread: thread,
            description: "the thread \"\(thread)\" was never started. Call start() first.")
    }

    package static func threadStopped(thread: String) -> DeliveryError {
        let remedy =
            thread == "main"
            ? "The main thread ends if the main function is async or calls dispatchMain(); write a synchronous one "
                + "that calls MainRunLoop.run()."
            : "Use another thread, or stop it later."
        return DeliveryError(
            code: .threadStopped, thread: thread,
            description: "the thread \"\(thread)\" was told to stop, or has ended, and accepts nothing more. \(remedy)")
    }

    static func waitForItself(thread: String) -> DeliveryError {
        DeliveryError(
            code: .waitForItself, thread: thread,
            description: "the thread \"\(thread)\" would wait for its own end. "
                + "Wait on another thread; here call stop().")
    }

    static func threadStillRunning(thread: String, after timeout: Duration) -> DeliveryError {
        DeliveryError(
            code: .threadStillRunning, thread: thread, timeout: timeout,
            description: "the thread \"\(thread)\" has not ended within \(timeout). "
                + "Call stop() first; if that was done, one of its handlers or nested run loops does not return.")
    }

    static func threadEnded(thread: String) -> DeliveryError {
        DeliveryError(
            code: .threadEnded, thread: thread,
            description: "the thread \(thread) ended, or was told to stop, before it did what was waited for. "
                + "Stop it after the wait, or do not wait for it.")
    }

    static func waitWouldDeadlock(_ waits: [Wait]) -> DeliveryError {
        let cycle = waits.map { "\($0.thread) waits for \($0.waitsFor) (\($0.file):\($0.line))" }
            .joined(separator: "; ")
        return DeliveryError(
            code: .waitWouldDeadlock, waits: waits, cause: cycle,
            description: "the wait would never end: \(cycle). "
                + "Do not wait in one of these places: post or perform without waiting.")
    }

    static func notDeliveredInTime(pending: [Pending], after timeout: Duration) -> DeliveryError {
        let running = Set(pending.flatMap(\.running)).sorted { $0.observer < $1.observer }.map(\.description)
        let isForMain = pending.contains { $0.thread.hasPrefix("{number = 1,") }
        let reason =
            running.isEmpty
            ? "The thread does not run its run loop in a common mode, or a handler does not return. Run its run loop"
                + (isForMain ? " (the main thread's needs a main function that is not async)" : "")
            : "The thread runs \(running.joined(separator: " and ")). Let it return sooner"
        let list = pending.map(\.description).joined(separator: ", ")
        return DeliveryError(
            code: .notDeliveredInTime, timeout: timeout, pending: pending,
            description: "not delivered within \(timeout): \(list). \(reason), or allow more time.")
    }

    static func dropped(notification: String, observers: [UInt64]) -> DeliveryError {
        DeliveryError(
            code: .dropped, notification: notification, observers: observers,
            description: "\(notification) was dropped by the overflow policy of observer "
                + "\(observers.map(String.init).joined(separator: ", ")): its mailbox is full. "
                + "Post less, handle faster, or give it more capacity.")
    }

    static func handlerStillRunning(observer: UInt64, after timeout: Duration) -> DeliveryError {
        DeliveryError(
            code: .handlerStillRunning, observers: [observer], timeout: timeout,
            description: "the handler of observer \(observer) has not returned within \(timeout). "
                + "The observer is removed. Allow more time, or find what its handler waits for.")
    }

    package static func recordingFailed(path: String, problem: String) -> DeliveryError {
        DeliveryError(
            code: .recordingFailed, path: path, cause: problem,
            description: "cannot record to \(path): \(problem). Name a file that can be written, on a disk with room.")
    }

    package static func descriptorFailed(thread: String, problem: String) -> DeliveryError {
        DeliveryError(
            code: .descriptorFailed, thread: thread, cause: problem,
            description: "the thread \"\(thread)\" cannot use a descriptor: \(problem). Watch one that is open and can "
                + "be polled, such as a socket, a pipe or an eventfd; if none is left, raise the limit (ulimit -n).")
    }
}
