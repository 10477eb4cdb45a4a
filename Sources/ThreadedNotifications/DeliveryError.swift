public import Foundation

/// An operation that failed: what failed, on what, why, and what to do.
///
///     do {
///         try worker.performAndWait(timeout: .seconds(5)) { … }
///     } catch let error as DeliveryError where error.code == .threadStopped {
///         …
///     }
///
/// `description` is the whole message. The properties name what is concerned; a property that does not apply is nil or
/// empty.
public struct DeliveryError: Error, Hashable, Sendable {
    /// A kind of failure. Later versions may add codes.
    public struct Code: Hashable, Sendable {
        fileprivate enum Value: Hashable {
            case threadAlreadyStarted, threadNotCreated, threadNotStarted, threadStopped, waitForItself
            case threadStillRunning, threadEnded, waitWouldDeadlock, notDeliveredInTime, dropped
            case handlerStillRunning, recordingFailed, descriptorFailed
        }

        fileprivate var value: Value

        /// `start()` was called on a thread that runs, or has run.
        public static let threadAlreadyStarted = Code(value: .threadAlreadyStarted)
        /// The system created no thread; `systemError` is its `errno`.
        public static let threadNotCreated = Code(value: .threadNotCreated)
        /// The call needs a thread that was not started.
        public static let threadNotStarted = Code(value: .threadNotStarted)
        /// The call needs a thread that was told to stop, or has ended.
        public static let threadStopped = Code(value: .threadStopped)
        /// A thread would wait for its own end.
        public static let waitForItself = Code(value: .waitForItself)
        /// A thread did not end before the timeout.
        public static let threadStillRunning = Code(value: .threadStillRunning)
        /// A thread ended, or was told to stop, before it did what was waited for.
        public static let threadEnded = Code(value: .threadEnded)
        /// The wait would have closed a cycle, and was not begun; `waits` is the cycle.
        public static let waitWouldDeadlock = Code(value: .waitWouldDeadlock)
        /// A notification was not handled, or a block not performed, before the timeout; `pending` lists them.
        public static let notDeliveredInTime = Code(value: .notDeliveredInTime)
        /// The overflow policy of `observers` dropped a notification that was waited for.
        public static let dropped = Code(value: .dropped)
        /// The handler of `observers` did not return before the timeout.
        public static let handlerStillRunning = Code(value: .handlerStillRunning)
        /// The recording at `path` could not be written, or not completely.
        public static let recordingFailed = Code(value: .recordingFailed)
        /// The run loop of `thread` and a descriptor could not be connected; `cause` says why.
        public static let descriptorFailed = Code(value: .descriptorFailed)
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

    private init(_ code: Code) {
        self.code = code
    }

    /// A wait of one thread, and where in the source it is.
    public struct Wait: Hashable, Sendable {
        /// The thread that waits.
        public var thread: ThreadIdentity
        /// The target of the wait, in words.
        public var waitsFor: String
        /// The file of the call that waits, as `#fileID`.
        public var file: String
        /// The line of that call.
        public var line: Int
    }

    /// A notification or block that was waited for, and that was not handled.
    public struct Pending: Hashable, Sendable {
        /// The notification's name; nil for a block.
        public var notification: String?
        /// `ObserverToken.id`; nil for a block.
        public var observer: UInt64?
        /// The thread that should have handled it.
        public var thread: String
        /// The handlers that the thread runs, as far as that is certain: a handler with a transform is not named,
        /// because its transform may run on another thread.
        public var running: [Handler] = []
    }

    /// A handler that runs.
    public struct Handler: Hashable, Sendable {
        /// `ObserverToken.id`.
        public var observer: UInt64
        /// The name that the observer asks for; nil: any.
        public var notification: String?
        /// Where the observer was added.
        public var location: SourceLocation
    }
}

// One function for each code, so that a throw names everything that the code needs.
extension DeliveryError {
    static func threadAlreadyStarted(thread: String) -> DeliveryError {
        make(.threadAlreadyStarted) { $0.thread = thread }
    }

    static func threadNotCreated(thread: String, code: Int32) -> DeliveryError {
        make(.threadNotCreated) { ($0.thread, $0.systemError) = (thread, code) }
    }

    package static func threadNotStarted(thread: String) -> DeliveryError {
        make(.threadNotStarted) { $0.thread = thread }
    }

    package static func threadStopped(thread: String) -> DeliveryError { make(.threadStopped) { $0.thread = thread } }

    static func waitForItself(thread: String) -> DeliveryError { make(.waitForItself) { $0.thread = thread } }

    static func threadStillRunning(thread: String, after timeout: Duration) -> DeliveryError {
        make(.threadStillRunning) { ($0.thread, $0.timeout) = (thread, timeout) }
    }

    static func threadEnded(thread: String) -> DeliveryError { make(.threadEnded) { $0.thread = thread } }

    static func waitWouldDeadlock(_ cycle: [Wait]) -> DeliveryError { make(.waitWouldDeadlock) { $0.waits = cycle } }

    static func notDeliveredInTime(pending: [Pending], after timeout: Duration) -> DeliveryError {
        make(.notDeliveredInTime) { ($0.pending, $0.timeout) = (pending, timeout) }
    }

    static func dropped(notification: String, observers: [UInt64]) -> DeliveryError {
        make(.dropped) { ($0.notification, $0.observers) = (notification, observers) }
    }

    static func handlerStillRunning(observer: UInt64, after timeout: Duration) -> DeliveryError {
        make(.handlerStillRunning) { ($0.observers, $0.timeout) = ([observer], timeout) }
    }

    package static func recordingFailed(path: String, problem: String) -> DeliveryError {
        make(.recordingFailed) { ($0.path, $0.cause) = (path, problem) }
    }

    package static func descriptorFailed(thread: String, problem: String) -> DeliveryError {
        make(.descriptorFailed) { ($0.thread, $0.cause) = (thread, problem) }
    }

    private static func make(_ code: Code, _ set: (inout DeliveryError) -> Void) -> DeliveryError {
        var error = DeliveryError(code)
        set(&error)
        return error
    }
}

extension DeliveryError: CustomStringConvertible, LocalizedError {
    /// The cycle that a wait would have closed, in words.
    var cycle: String? {
        guard code == .waitWouldDeadlock else { return nil }
        return waits.map { "\($0.thread) waits for \($0.waitsFor) (\($0.file):\($0.line))" }.joined(separator: "; ")
    }

    /// The same as `description`, for `localizedDescription`.
    public var errorDescription: String? { description }

    public var description: String {
        let thread = thread ?? "?"
        let after = timeout.map { "\($0)" } ?? "?"
        let observers = observers.map(String.init).joined(separator: ", ")
        switch code.value {
        case .threadAlreadyStarted:
            return
                "cannot start the thread \"\(thread)\": it was started before, and a thread runs once. Make a new one."
        case .threadNotCreated:
            return "cannot start the thread \"\(thread)\": the system created no thread (error \(systemError ?? 0)). "
                + "Let other threads end first, or raise the limit (ulimit -u)."
        case .threadNotStarted:
            return "the thread \"\(thread)\" was never started. Call start() first."
        case .threadStopped:
            return "the thread \"\(thread)\" was told to stop, or has ended, and accepts nothing more. "
                + (thread == "main"
                    ? "The main thread ends if the main function is async or calls dispatchMain(); write a "
                        + "synchronous one that calls MainRunLoop.run()."
                    : "Use another thread, or stop it later.")
        case .waitForItself:
            return "the thread \"\(thread)\" would wait for its own end. Wait on another thread; here call stop()."
        case .threadStillRunning:
            return "the thread \"\(thread)\" has not ended within \(after). "
                + "Call stop() first; if that was done, one of its handlers or nested run loops does not return."
        case .threadEnded:
            return "the thread \(thread) ended, or was told to stop, before it did what was waited for. "
                + "Stop it after the wait, or do not wait for it."
        case .waitWouldDeadlock:
            return "the wait would never end: \(cycle ?? ""). "
                + "Do not wait in one of these places: post or perform without waiting."
        case .notDeliveredInTime:
            let list = pending.map(\.description).joined(separator: ", ")
            let running = pending.flatMap(\.running)
            if !running.isEmpty {
                let handlers = Set(running).sorted { $0.observer < $1.observer }.map(\.description)
                return "not delivered within \(after): \(list). The thread runs "
                    + "\(handlers.joined(separator: " and ")). Let it return sooner, or allow more time."
            }
            return "not delivered within \(after): \(list). The thread does not run its run loop in a common "
                + "mode, or a handler does not return. Run its run loop"
                + (pending.contains { $0.thread.hasPrefix("{number = 1,") }
                    ? " (the main thread's needs a main function that is not async), " : ", ")
                + "or allow more time."
        case .dropped:
            return "\(notification ?? "a notification") was dropped by the overflow policy of observer \(observers): "
                + "its mailbox is full. Post less, handle faster, or give it more capacity."
        case .handlerStillRunning:
            return "the handler of observer \(observers) has not returned within \(after). The observer is removed. "
                + "Allow more time, or find what its handler waits for."
        case .recordingFailed:
            return
                "cannot record to \(path ?? "?"): \(cause ?? "?"). Name a file that can be written, on a disk with room."
        case .descriptorFailed:
            return
                "the thread \"\(thread)\" cannot use a descriptor: \(cause ?? "?"). Watch one that is open and can be "
                + "polled, such as a socket, a pipe or an eventfd; if none is left, raise the limit (ulimit -n)."
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

extension DeliveryError.Handler: CustomStringConvertible {
    public var description: String {
        "the handler of observer \(observer) of \(notification ?? "any name"), which was added at \(location)"
    }
}
