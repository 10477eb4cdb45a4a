public import Foundation
internal import Glibc
internal import Synchronization
public import ThreadedNotifications

/// A notification center for the processes of one user on one computer, like Apple's `DistributedNotificationCenter`.
///
///     let token = try DistributedCenter.default.addObserver(forName: name) { notification in
///         …   // on the main thread, whichever process posts
///     }
///     try DistributedCenter.default.post(name: name, object: "Kitchen", userInfo: ["dishes": 3])
///
/// The first use connects to the user's server, and starts one if none is running. If the connection ends, the center
/// connects again by itself, with its observers and its suspension. Delivery is at most once. Lost notifications are
/// reported as a gap or an interruption (`ConnectionEvent`), except those that a suspension behavior discards.
///
/// - Threads: all members may be called on any thread. By default, observers are called on the main thread while it
///   runs its run loop in a common mode.
/// - Order: the notifications of one poster reach an observer in the order posted.
/// - Removal: as in `ThreadedNotificationCenter`: when `cancel()` has returned on the observer's thread, nothing more
///   is delivered to it. Releasing the center closes it.
/// - Source: "Notification Programming Topics", on distributed notification centers; the article *Distributed
///   Notifications* has the rules.
public final class DistributedCenter: Sendable {
    /// A lock might stay locked in a copy of the process. A center that another thread has stored first replaces one's
    /// own, which was not used.
    private static let shared = AtomicLazyReference<DistributedCenter>()

    /// The process's center in the default directory, created at the first use.
    ///
    /// - Throws: `.pathNotUsable` if this process has no file descriptor left. The next use tries again.
    public static var `default`: DistributedCenter {
        get throws(DistributedError) {
            if let center = shared.load() { return center }
            return shared.storeIfNil(try DistributedCenter())
        }
    }

    let connection: CenterConnection

    /// Creates a center with a connection of its own, which begins at the first use.
    ///
    /// - Parameter postTimeout: how long a post waits for a connection, or for a server that does not read.
    /// - Throws: `.pathNotUsable` if this process has no file descriptor left.
    public init(
        directory: ServerDirectory = .default, postTimeout: Duration = .seconds(5)
    ) throws(DistributedError) {
        connection = try CenterConnection(directory: directory, postTimeout: postTimeout)
    }

    deinit { connection.close() }

    // MARK: Observing

    /// Adds an observer. It does not wait until the server has registered it; `synchronize` does.
    ///
    /// - Parameters:
    ///   - name: the name to match; nil matches any name.
    ///   - object: the object to match; nil matches any object. A notification without an object reaches only observers
    ///     whose object is nil.
    ///   - suspensionBehavior: what the server does with notifications while delivery is suspended.
    ///   - thread: where the handler runs. `.postingThread` is the thread that reads from the server; a handler that
    ///     blocks it stops all delivery of this center.
    ///   - options: as for `ThreadedNotificationCenter`. The overflow policy bounds what waits for a slow thread; what
    ///     it drops is counted in `ObserverToken.counters`, not in a gap.
    /// - Returns: a token. Keep it: releasing it removes the observer.
    /// - Throws: `.nameNotUsable`, `.objectNotUsable`, `.tooManyObservers`, `.serverNotStarted` if the system creates
    ///   no thread to read with, `.processForked` or `.closed`.
    @_disfavoredOverload
    public func addObserver(
        forName name: Notification.Name?, object: String? = nil, suspensionBehavior: SuspensionBehavior = .coalesce,
        on thread: some DeliveryTarget,
        options: ObserverOptions = ObserverOptions(), file: String = #fileID, line: Int = #line,
        using handler: @escaping @Sendable (DistributedNotification) -> Void
    ) throws(DistributedError) -> ObserverToken {
        try connection.addObserver(
            name, object, suspensionBehavior, options, SourceLocation(file, line), .on(thread, handler))
    }

    /// Observes as an `AsyncSequence`, which ends when it is cancelled and when the center is closed.
    ///
    /// - Parameter limit: how many notifications wait for a slow iterator. The oldest of more are dropped and counted.
    /// - Throws: the errors of `addObserver`.
    public func notifications(
        named name: Notification.Name?, object: String? = nil, suspensionBehavior: SuspensionBehavior = .coalesce,
        bufferSize limit: Int = 1000, file: String = #fileID, line: Int = #line
    ) throws(DistributedError) -> NotificationSequence<DistributedNotification> {
        try NotificationSequence<DistributedNotification>(bufferSize: limit) { sink throws(DistributedError) in
            try addObserver(
                forName: name, object: object, suspensionBehavior: suspensionBehavior, on: .postingThread, file: file,
                line: line, using: sink)
        }
    }

    /// Removes an observer, as `ObserverToken.cancel` does. A token of another center has no effect.
    public func removeObserver(_ token: ObserverToken) {
        if connection.observers.own(token) || connection.events.own(token) { token.cancel() }
    }

    // MARK: Posting

    /// Posts a notification to the observers of all processes, including this one. It does not wait for them.
    ///
    /// When this returns, the kernel has the notification; a server that ends before it has read it loses it. It waits
    /// at most the center's `postTimeout`. Code of a task calls the async form, which blocks no thread.
    ///
    /// - Parameters:
    ///   - name: 1 to 255 bytes.
    ///   - object: identifies the sender to observers; up to 1024 bytes.
    ///   - userInfo: within the limits of `PropertyListValue`.
    ///   - deliverImmediately: delivers also to processes that have suspended delivery, after what is held for them.
    /// - Throws: `.nameNotUsable`, `.objectNotUsable` and `.userInfoNotUsable` before anything is done;
    ///   `.pathNotUsable`, `.serverNotStarted` and `.serverRefused` if the last attempt to connect failed, until a
    ///   later attempt succeeds (a post causes no attempt); `.notPosted` after the timeout; `.processForked`; `.closed`.
    @available(*, noasync, message: "it may block the thread; use await")
    public func post(
        name: Notification.Name, object: String? = nil, userInfo: [String: PropertyListValue]? = nil,
        deliverImmediately: Bool = false, file: String = #fileID, line: Int = #line
    ) throws(DistributedError) {
        try post(name, object, userInfo, deliverImmediately, SourceLocation(file, line))
    }

    public func post(
        name: Notification.Name, object: String? = nil, userInfo: [String: PropertyListValue]? = nil,
        deliverImmediately: Bool = false, file: String = #fileID, line: Int = #line
    ) async throws(DistributedError) {
        let location = SourceLocation(file, line)
        try await Self.perform { () throws(DistributedError) in
            try self.post(name, object, userInfo, deliverImmediately, location)
        }
    }

    func post(
        _ name: Notification.Name, _ object: String?, _ userInfo: [String: PropertyListValue]?,
        _ deliverImmediately: Bool, _ location: SourceLocation
    ) throws(DistributedError) {
        try Self.check(name: name.rawValue, object: object)
        // 0 if nothing records.
        let number = DeliveryEvent.nextPost()
        let frame = try OutgoingFrame(
            postOf: name.rawValue, object: object, userInfo: userInfo, deliverImmediately: deliverImmediately,
            record: number)
        DeliveryEvent.trace(
            .post, name: name, post: number, location: location, origin: Self.origin(getpid(), number))
        try connection.write(frame, name: name.rawValue, at: location)
    }

    /// The identity of a post in the records of the poster and of the receivers; nil if the poster was not recorded.
    static func origin(_ process: Int32, _ number: UInt64) -> String? { number == 0 ? nil : "\(process)-\(number)" }

    // MARK: Suspension

    /// Whether delivery to this process is suspended.
    public var isSuspended: Bool { connection.isSuspended }

    /// Suspends delivery to this process: the server does with each notification what the observer's suspension behavior
    /// says. Suspending twice is the same as suspending once. It takes effect when the server has read the request, which
    /// `synchronize` waits for.
    public func suspend() { connection.setSuspended(true) }

    /// Resumes delivery: the server delivers the notifications that it held, in order, before any later one.
    public func resume() { connection.setSuspended(false) }

    // MARK: Connection

    /// The id of the server's process; nil while the center is not connected. Connection observers get the changes.
    public var serverProcess: Int32? { connection.serverProcess }

    /// Waits until the server has done everything that this center asked for before.
    ///
    /// On the thread that reads from the server it only times out.
    /// - Throws: `.notAnswered` after the timeout; the errors of `post` if there is no connection.
    @available(*, noasync, message: "it blocks the thread; use await")
    public func synchronize(timeout: Duration = .seconds(5)) throws(DistributedError) {
        try connection.synchronize(timeout: timeout)
    }

    public func synchronize(timeout: Duration = .seconds(5)) async throws(DistributedError) {
        try await Self.perform { [connection] () throws(DistributedError) in
            try connection.synchronize(timeout: timeout)
        }
    }

    /// Adds an observer of later connections, interruptions and gaps.
    ///
    /// - Order: on one thread, these events and the notifications arrive in the order in which they happened.
    /// - Returns: a token. Keep it: releasing it removes the observer.
    @_disfavoredOverload
    public func addConnectionObserver(
        on thread: some DeliveryTarget,
        options: ObserverOptions = ObserverOptions(), file: String = #fileID, line: Int = #line,
        using handler: @escaping @Sendable (ConnectionEvent) -> Void
    ) -> ObserverToken {
        connection.addObserver(options, SourceLocation(file, line), .on(thread, handler))
    }

    /// Ends the connection: observers receive nothing more, and posting throws `.closed`. It does not wait for the
    /// server.
    public func close() { connection.close() }

    // MARK: Status

    /// Asks the server of a directory for its status. It starts no server.
    /// - Returns: nil if no server is running there.
    /// - Throws: `.pathNotUsable`, `.serverRefused`, `.serverNotStarted` if a server accepts nobody, or `.notAnswered`
    ///   after the timeout.
    @available(*, noasync, message: "it blocks the thread; use await")
    public static func status(
        of directory: ServerDirectory = .default, timeout: Duration = .seconds(5)
    ) throws(DistributedError) -> ServerStatus? {
        try StatusQuery.ask(directory, timeout: timeout)
    }

    public static func status(
        of directory: ServerDirectory = .default, timeout: Duration = .seconds(5)
    ) async throws(DistributedError) -> ServerStatus? {
        try await perform { () throws(DistributedError) in try StatusQuery.ask(directory, timeout: timeout) }
    }

    // MARK: Checking

    /// - Throws: `.nameNotUsable` or `.objectNotUsable`, as posting and observing do.
    package static func check(name: String?, object: String?) throws(DistributedError) {
        if let name, let problem = problem(of: name, limit: Wire.nameLimit) ?? (name.isEmpty ? "is empty" : nil) {
            throw .nameNotUsable(name: name, problem: problem)
        }
        if let object, let problem = problem(of: object, limit: Wire.objectLimit) {
            throw .objectNotUsable(object: object, problem: problem)
        }
    }

    private static func problem(of text: String, limit: Int) -> String? {
        var text = text
        return text.withUTF8 { bytes in
            if bytes.count > limit { return "has \(bytes.count) bytes" }
            return bytes.contains(0) ? "contains NUL" : nil
        }
    }

    /// Performs a call that blocks, on a thread of its own, or here if the system creates none. Cancelling the task has
    /// no effect: the calls have timeouts.
    private static func perform<Value: Sendable>(
        _ call: @escaping @Sendable () throws(DistributedError) -> Value
    ) async throws(DistributedError) -> Value {
        try await withCheckedContinuation { continuation in
            switch SystemThread.startWithoutSignals({ continuation.resume(returning: Result(catching: call)) }) {
            case .success(let thread): thread.detach()
            case .failure: continuation.resume(returning: Result(catching: call))
            }
        }.get()
    }
}
