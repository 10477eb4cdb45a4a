public import Foundation
public import ThreadedNotifications

// The parameters and errors are those of `addObserver(forName:object:suspensionBehavior:on:options:file:line:using:)`.

extension DistributedCenter {
    /// Adds an observer on the main thread. Its handler is isolated to the main actor, and is released there.
    public func addObserver(
        forName name: Notification.Name?, object: String? = nil, suspensionBehavior: SuspensionBehavior = .coalesce,
        on thread: MainThread = .main, options: ObserverOptions = ObserverOptions(),
        file: String = #fileID, line: Int = #line,
        using handler: @escaping @MainActor (DistributedNotification) -> Void
    ) throws(DistributedError) -> ObserverToken {
        try connection.addObserver(
            name, object, suspensionBehavior, options, SourceLocation(file, line), .onMain(handler))
    }

    /// Adds an observer of later connections, interruptions and gaps on the main thread, in the same way.
    public func addConnectionObserver(
        on thread: MainThread = .main, options: ObserverOptions = ObserverOptions(),
        file: String = #fileID, line: Int = #line, using handler: @escaping @MainActor (ConnectionEvent) -> Void
    ) -> ObserverToken {
        connection.addObserver(options, SourceLocation(file, line), .onMain(handler))
    }

    /// Adds an observer with an async handler. A task calls it, one call after the other, as for
    /// `ThreadedNotificationCenter`. Notifications that arrive while a call runs wait, under the observer's overflow
    /// policy.
    ///
    /// - Parameter executor: the executor that the handler prefers, such as a `RunLoopThread`; nil: the default.
    @_disfavoredOverload
    public func addObserver(
        forName name: Notification.Name?, object: String? = nil, suspensionBehavior: SuspensionBehavior = .coalesce,
        executorPreference executor: (any TaskExecutor)? = nil, options: ObserverOptions = ObserverOptions(),
        file: String = #fileID, line: Int = #line,
        using handler: @escaping @Sendable (DistributedNotification) async -> Void
    ) throws(DistributedError) -> ObserverToken {
        try connection.addObserver(
            name, object, suspensionBehavior, options, SourceLocation(file, line), .awaiting(on: executor, handler))
    }
}
