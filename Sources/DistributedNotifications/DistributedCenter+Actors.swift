public import Foundation
public import ThreadedNotifications

// Handlers that are isolated to an actor that runs on one thread: the main actor, or an actor on a `RunLoopThread`.

extension DistributedCenter {
    /// Adds an observer on the main thread. Its handler is isolated to the main actor, and is released there. The
    /// parameters and errors are those of `addObserver(forName:object:suspensionBehavior:on:options:file:line:using:)`.
    ///
    ///     let token = try center.addObserver(forName: name) { notification in window.show(notification) }
    ///
    /// Keep the token: releasing it removes the observer, and `_ = try center.addObserver(…)` removes it at once.
    public func addObserver(
        forName name: Notification.Name?, object: String? = nil, suspensionBehavior: SuspensionBehavior = .coalesce,
        on thread: MainThread = .main, options: ObserverOptions = ObserverOptions(modes: [.default]),
        file: String = #fileID, line: Int = #line,
        using handler: @escaping @MainActor (DistributedNotification) -> Void
    ) throws(DistributedError) -> ObserverToken {
        try add(name, object, suspensionBehavior, options, SourceLocation(file, line), .onMain(handler))
    }

    /// Adds an observer of later connections, interruptions and gaps on the main thread. Its handler is isolated to the
    /// main actor, and is released there.
    ///
    /// Keep the token: releasing it removes the observer, and `_ = center.addConnectionObserver(…)` removes it at once.
    public func addConnectionObserver(
        on thread: MainThread = .main, options: ObserverOptions = ObserverOptions(modes: [.default]),
        file: String = #fileID, line: Int = #line, using handler: @escaping @MainActor (ConnectionEvent) -> Void
    ) -> ObserverToken {
        addConnectionObserver(options, SourceLocation(file, line), .onMain(handler))
    }
}
