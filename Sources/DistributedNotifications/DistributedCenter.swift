public import Foundation
public import ThreadedNotifications

/// A notification center across the processes of one user on one computer: what `NSDistributedNotificationCenter` is elsewhere.
///
///     let token = try DistributedCenter.default.addObserver(forName: name) { notification in
///         …   // on the main thread, whichever process posts
///     }
///     try DistributedCenter.default.post(name: name, object: "Kitchen", userInfo: ["dishes": 3])
public final class DistributedCenter: Sendable {
    /// The process's center at the default place.
    public static let `default` = DistributedCenter()

    public init(place: ServerPlace = .default, limits: ClientLimits = ClientLimits()) {}

    @discardableResult
    public func addObserver(
        forName name: Notification.Name?, object: String? = nil, suspensionBehavior: SuspensionBehavior = .coalesce,
        on thread: some DeliveryTarget = TargetThread.main, options: ObserverOptions = ObserverOptions(modes: [.default]),
        file: String = #fileID, line: Int = #line,
        using handler: @escaping @Sendable (DistributedNotification) -> Void
    ) throws(DistributedError) -> ObserverToken { fatalError() }

    public func notifications(
        named name: Notification.Name?, object: String? = nil, suspensionBehavior: SuspensionBehavior = .coalesce,
        buffer: AsyncStream<DistributedNotification>.Continuation.BufferingPolicy,
        file: String = #fileID, line: Int = #line
    ) throws(DistributedError) -> NotificationSequence<DistributedNotification> { fatalError() }

    /// As `ObserverToken.cancel`.
    public func removeObserver(_ token: ObserverToken) { token.cancel() }

    /// When it returns, the notification was handed to the kernel.
    public func post(
        name: Notification.Name, object: String? = nil, userInfo: [String: PropertyListValue]? = nil,
        deliverImmediately: Bool = false
    ) throws(DistributedError) {}

    /// Waits until the server has done everything that this center asked for before: observers are registered, suspension is in
    /// effect, what was posted is on its way.
    public func synchronize(limit: Duration = .seconds(5)) throws(DistributedError) {}

    public var isSuspended: Bool { get { false } set {} }

    /// Called with every event from now on, on that thread.
    public func addConnectionObserver(
        on thread: some DeliveryTarget = TargetThread.main, file: String = #fileID, line: Int = #line,
        using handler: @escaping @Sendable (ConnectionEvent) -> Void
    ) -> ObserverToken { fatalError() }

    /// Asks the server; starts none if `startsServer` is false and there is none: then it is nil.
    public static func status(
        of place: ServerPlace = .default, limit: Duration = .seconds(5)
    ) throws(DistributedError) -> ServerStatus? { nil }

    /// Ends the connection: observers get nothing more. What was posted is on its way.
    public func close() {}
}
