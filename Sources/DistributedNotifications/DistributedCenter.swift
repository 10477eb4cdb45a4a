public import Foundation
internal import Synchronization
public import ThreadedNotifications

/// A notification center across the processes of one user on one computer: what `NSDistributedNotificationCenter` is elsewhere.
///
///     let token = try DistributedCenter.default.addObserver(forName: name) { notification in
///         …   // on the main thread, whichever process posts
///     }
///     try DistributedCenter.default.post(name: name, object: "Kitchen", userInfo: ["dishes": 3])
///
///     post ─► server ─► the process's reader ─► mailbox ─► observer
///
/// What happens: the first use connects to the user's server, and starts one if there is none: the program that runs is executed
/// once more as the server, so nothing need be installed. It ends when nobody was connected for a minute. When the
/// connection breaks, the center connects again by itself, registers what is observed, and is suspended if it was.
/// Promise: at most once, in order for each poster. What is lost is counted and shown as a gap (`ConnectionEvent.gap`), but for
/// what suspension behaviors discard by contract; a crash of the server is shown as an interruption. `post` returns when
/// the kernel has the notification, so a server that crashes then may lose it.
/// Matching: an observer's nil name or object is any. A notification without an object reaches only observers without one.
/// Threads: everything may be called on any thread. Observers are called on the main thread, in its default mode, unless they say
/// otherwise, while it runs its run loop; what waits for them meanwhile is bounded by `ClientLimits`.
/// Removal: by token, as in `ThreadedNotificationCenter`: after `cancel()` returned on the observer's thread nothing is delivered
/// to it, and what the server holds for it is no longer owed to it. A center that is dropped is closed.
/// Fork: the copy that `fork` makes of a process has no connection; there `post` throws, and the program it executes has its own.
/// Source: "Notification Programming Topics", on distributed notification centers; the rules are in the article
/// *Distributed Notifications*.
public final class DistributedCenter: Sendable {
    /// The process's center at the default place.
    public static let `default` = DistributedCenter()

    /// Nil: the system had no descriptor left.
    let connection: CenterConnection?
    private let place: ServerPlace

    /// A center with a connection of its own; nothing is connected before it is used.
    ///
    /// - Parameters:
    ///   - place: where the server is.
    ///   - limits: how much may wait, and how long a post may take.
    public init(place: ServerPlace = .default, limits: ClientLimits = ClientLimits()) {
        self.place = place
        connection = CenterConnection(place: place, limits: limits)
    }

    deinit {
        close()
    }

    private var opened: CenterConnection {
        get throws(DistributedError) {
            guard !ForkGuard.isCopy else { throw .processForked }
            guard let connection else {
                throw .placeNotUsable(
                    path: place.socketPath,
                    problem: "this process had no descriptor left. Close files, or raise the limit (ulimit -n)")
            }
            return connection
        }
    }

    // MARK: Observing

    /// Adds an observer. It is registered with the server when this returns or soon after: `synchronize` waits for that.
    ///
    /// - Parameters:
    ///   - name: which notifications; nil: any.
    ///   - object: of which object, compared as strings; nil: any.
    ///   - suspensionBehavior: what happens to them while delivery is suspended.
    ///   - thread: where the handler runs; `.postingThread` is the thread that reads from the server, which must not be kept.
    ///   - options: what may be chosen about an observer. What an overflow policy drops is counted in `ObserverToken.counts`, and is
    ///     in no gap; one that blocks keeps all of this center's observers waiting.
    ///   - file: the caller's; recordings and events name it.
    ///   - line: the caller's; recordings and events name it.
    ///   - handler: called on `thread`.
    /// - Returns: a token. Keep it: dropping it removes the observer. Neither adding nor removing waits for the server:
    ///   what a server that does not read has no room for is written when it has.
    /// - Throws: `DistributedError.nameNotUsable`, `.objectNotUsable`, `.tooManyObservers`, `.processForked` or `.closed`.
    public func addObserver(
        forName name: Notification.Name?, object: String? = nil, suspensionBehavior: SuspensionBehavior = .coalesce,
        on thread: some DeliveryTarget = TargetThread.main,
        options: ObserverOptions = ObserverOptions(modes: [.default]), file: String = #fileID, line: Int = #line,
        using handler: @escaping @Sendable (DistributedNotification) -> Void
    ) throws(DistributedError) -> ObserverToken {
        let connection = try opened
        if let name { try Self.check(name: name.rawValue) }
        if let object { try Self.check(object: object) }
        // All that is delivered there is an arrival.
        let kept = connection.observers.addObserver(
            forName: name, on: thread, options: options, file: file, line: line
        ) { if let arrival = $0.object as? Arrival { handler(arrival.notification) } }
        let observed = CenterState.Observed(
            token: kept, name: name?.rawValue, object: object, behavior: suspensionBehavior)
        try connection.start()
        let number = try connection.state.withLock { state throws(DistributedError) in
            try state.add(observed, limit: Wire.observerLimit)
        }
        connection.tell()
        return ObserverToken(kept) { connection.unregister(number) }
    }

    /// The notifications as an `AsyncSequence`, which ends when it is cancelled and when the center is closed.
    ///
    /// - Parameters:
    ///   - name: which notifications; nil: any.
    ///   - object: of which object; nil: any.
    ///   - suspensionBehavior: what happens to them while delivery is suspended.
    ///   - buffer: how many are held for an iterator that does not keep up, and which are dropped and counted.
    ///   - file: the caller's; recordings and events name it.
    ///   - line: the caller's; recordings and events name it.
    /// - Throws: as `addObserver`.
    public func notifications(
        named name: Notification.Name?, object: String? = nil, suspensionBehavior: SuspensionBehavior = .coalesce,
        buffer: AsyncStream<DistributedNotification>.Continuation.BufferingPolicy,
        file: String = #fileID, line: Int = #line
    ) throws(DistributedError) -> NotificationSequence<DistributedNotification> {
        let sequence = try NotificationSequence<DistributedNotification>(
            buffer: buffer
        ) { sink throws(DistributedError) in
            try addObserver(
                forName: name, object: object, suspensionBehavior: suspensionBehavior, on: .postingThread, file: file,
                line: line, using: sink)
        }
        let connection = try opened
        if !connection.state.withLock({ $0.whenClosed(sequence.tokenID, sequence.ending) }) { sequence.cancel() }
        return sequence
    }

    /// As `ObserverToken.cancel`, for a token of this center. A token of another center has no effect.
    public func removeObserver(_ token: ObserverToken) {
        guard let connection, token.isOf(connection.observers) || token.isOf(connection.events) else { return }
        token.cancel()
    }

    // MARK: Posting

    /// Posts a notification to the observers of all processes, this one's included. It does not wait for them.
    ///
    /// When it returns, the kernel has it. It waits for a connection, and for a server that does not read as fast as is posted,
    /// for `ClientLimits.postLimit` at most.
    /// - Parameters:
    ///   - name: 1 to 255 bytes.
    ///   - object: whose notification it is; up to 1024 bytes.
    ///   - userInfo: up to 60 KiB, 64 levels and 16,384 values.
    ///   - deliverImmediately: also to processes that have suspended delivery, after all that is held for them.
    /// - Throws: `DistributedError.nameNotUsable`, `.objectNotUsable` and `.userInfoNotUsable` before anything is done;
    ///   `.placeNotUsable`, `.serverNotStarted` and `.serverRefused` if the last attempt to connect failed, until the
    ///   next one, which is not made sooner for a post; `.notPosted` if the time is over;
    ///   `.wouldWaitForItself` on the thread that reads, if there is no connection; `.processForked` and `.closed`.
    public func post(
        name: Notification.Name, object: String? = nil, userInfo: [String: PropertyListValue]? = nil,
        deliverImmediately: Bool = false
    ) throws(DistributedError) {
        try Self.check(name: name.rawValue)
        if let object { try Self.check(object: object) }
        let frame = try Self.frame(name.rawValue, object, userInfo, deliverImmediately)
        try opened.write(frame, name: name.rawValue)
    }

    private static func frame(
        _ name: String, _ object: String?, _ userInfo: [String: PropertyListValue]?, _ immediately: Bool
    ) throws(DistributedError) -> [UInt8] {
        var flags: UInt8 = 0
        if immediately { flags |= PostedPayload.immediately }
        if object != nil { flags |= PostedPayload.hasObject }
        if userInfo != nil { flags |= PostedPayload.hasUserInfo }
        var writer = FrameWriter(capacity: 512)
        let start = writer.beginFrame(.post)
        writer.integer(flags)
        writer.string(name)
        if let object { writer.string(object) }
        try writer.userInfo(userInfo)
        writer.endFrame(from: start)
        return writer.bytes
    }

    // MARK: Suspension

    /// Whether delivery to this process is suspended; the server then does as each observer's suspension behavior says. At
    /// resumption it delivers what it held, in order, before anything later.
    ///
    /// It is a flag: to suspend twice is to suspend once. It takes effect when the server has read it; `synchronize` waits for
    /// that. What was on its way before is still delivered. Setting it does not wait for the server: if it is set to
    /// false and to true again before the server has read it, nothing is delivered in between.
    public var isSuspended: Bool {
        get {
            guard !ForkGuard.isCopy else { return false }
            return connection?.state.withLock { $0.isSuspended } ?? false
        }
        set { connection?.setSuspended(newValue) }
    }

    // MARK: Connection

    public var connectionState: ConnectionState {
        guard let connection, !ForkGuard.isCopy else { return .closed }
        return connection.state.withLock { state in
            switch state.phase {
            case .unused: .unused
            case .connecting(nil): .connecting
            case .connecting(let failure?): .failed(failure)
            case .connected(let link): .connected(serverProcess: link.serverProcess)
            case .closed: .closed
            }
        }
    }

    /// Waits until the server has done all that this center asked for before: observers are registered, suspension is in effect,
    /// what was posted is on its way. It blocks the calling thread.
    ///
    /// - Throws: `DistributedError.notAnswered` after `limit`; why there is no connection, as `post`; `.closed`.
    public func synchronize(limit: Duration = .seconds(5)) throws(DistributedError) {
        try opened.synchronize(limit: limit)
    }

    /// Adds an observer of what happens to the connection from now on: connections, interruptions, gaps. On one thread they are
    /// in order with the notifications.
    ///
    /// - Returns: a token. Keep it: dropping it removes the observer.
    public func addConnectionObserver(
        on thread: some DeliveryTarget = TargetThread.main,
        options: ObserverOptions = ObserverOptions(modes: [.default]), file: String = #fileID, line: Int = #line,
        using handler: @escaping @Sendable (ConnectionEvent) -> Void
    ) -> ObserverToken {
        (connection?.events ?? ThreadedNotificationCenter()).addObserver(
            forName: CenterConnection.eventName, on: thread, options: options, file: file, line: line
        ) { if let box = $0.object as? EventBox { handler(box.event) } }
    }

    /// What happens to the connection, as an `AsyncSequence`, which ends when it is cancelled and when the center is closed.
    ///
    /// - Parameter buffer: how many are held for an iterator that does not keep up, and which are dropped and counted.
    public func connectionEvents(
        buffer: AsyncStream<ConnectionEvent>.Continuation.BufferingPolicy = .bufferingNewest(1000)
    ) -> NotificationSequence<ConnectionEvent> {
        let sequence = NotificationSequence<ConnectionEvent>(buffer: buffer) { sink in
            let kept = addConnectionObserver(on: .postingThread, using: sink)
            return ObserverToken(kept) { [weak connection] in
                _ = connection?.eventSequences.withLock { $0.removeValue(forKey: kept.id) }
            }
        }
        connection?.eventSequences.withLock { $0[sequence.tokenID] = sequence.ending }
        if connection?.state.withLock({ $0.isClosed }) ?? true { sequence.cancel() }
        return sequence
    }

    /// Ends the connection: observers get nothing more, and posting throws. What was posted is on its way.
    public func close() {
        connection?.close()
    }

    // MARK: Status

    /// Asks a server how it is. It starts none.
    ///
    /// - Returns: nil if there is no server.
    /// - Throws: `DistributedError.placeNotUsable`, `.serverRefused` or `.notAnswered`.
    public static func status(
        of place: ServerPlace = .default, limit: Duration = .seconds(5)
    ) throws(DistributedError) -> ServerStatus? {
        try StatusQuery.ask(place, limit: limit)
    }

    // MARK: Checking

    private static func check(name: String) throws(DistributedError) {
        if let problem = problem(of: name, limit: Wire.nameLimit) ?? (name.isEmpty ? "is empty" : nil) {
            throw .nameNotUsable(name: name, problem: problem)
        }
    }

    private static func check(object: String) throws(DistributedError) {
        if let problem = problem(of: object, limit: Wire.objectLimit) {
            throw .objectNotUsable(object: object, problem: problem)
        }
    }

    private static func problem(of text: String, limit: Int) -> String? {
        var text = text
        return text.withUTF8 { bytes in
            if bytes.count > limit { return "has \(bytes.count) bytes" }
            return bytes.contains(0) ? "has a NUL in it" : nil
        }
    }
}
