public import DistributedNotifications
public import Foundation
internal import Synchronization
internal import ThreadedNotifications

/// Apple's notification center for the processes of one user, over a `DistributedCenter`.
///
///     let center = DistributedNotificationCenter.default()
///     let token = center.addObserver(forName: saved, object: nil, queue: .main) { notification in … }
///     center.postNotificationName(saved, object: "Editor", userInfo: ["path": path], deliverImmediately: true)
///
/// It is no subclass of `NotificationCenter`, because the methods of that class cannot be overridden on Linux.
///
/// - Threads: all members may be called on any thread. Without a queue, or with the main queue, a block is called on
///   the main thread while it runs its run loop in a common mode.
/// - Order, cost: as for `DistributedCenter`.
/// - Removal: the center retains an observer until it is removed. Keep the object that `addObserver` returns.
/// - Errors: Apple's methods cannot fail. Here, a call that fails has no effect, and `errorHandler` gets the error.
/// - Source: "Notification Programming Topics", on distributed notification centers.
public final class DistributedNotificationCenter: Sendable {
    /// How the server handles notifications while delivery is suspended.
    public typealias SuspensionBehavior = DistributedNotifications.SuspensionBehavior

    /// How a notification is posted.
    public struct Options: OptionSet, Sendable {
        public let rawValue: UInt

        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// Delivers also to processes that have suspended delivery.
        public static let deliverImmediately = Options(rawValue: 1)
        /// Has no effect: one server serves all sessions of a user.
        public static let postToAllSessions = Options(rawValue: 2)
    }

    /// An observer, as the caller of `addObserver` knows it.
    private final class Registration: NSObject, Sendable {
        let name: Notification.Name?
        let object: String?
        let token: ObserverToken

        init(_ name: Notification.Name?, _ object: String?, _ token: ObserverToken) {
            (self.name, self.object, self.token) = (name, object, token)
        }
    }

    private struct State {
        var connectionObserver: ObserverToken?
        var registrations: [ObjectIdentifier: Registration] = [:]
        var errorHandler: (@Sendable (DistributedError) -> Void)?
    }

    private static let shared = AtomicLazyReference<DistributedNotificationCenter>()

    /// A failure if the process had no file descriptor left.
    private let center: Result<DistributedCenter, DistributedError>
    private let state = Locked(State())

    /// The process's center in the user's default directory.
    public class func `default`() -> DistributedNotificationCenter {
        if let center = shared.load() { return center }
        let center = DistributedNotificationCenter(
            Result { () throws(DistributedError) in try DistributedCenter.default })
        // One that can only report the error is not kept: the next call tries again.
        if case .failure = center.center { return center }
        return shared.storeIfNil(center)
    }

    /// A center over another one, such as that of a directory of its own.
    public convenience init(_ center: DistributedCenter) { self.init(.success(center)) }

    private init(_ center: Result<DistributedCenter, DistributedError>) {
        self.center = center
        let token = (try? center.get())?.addConnectionObserver(on: .postingThread) { [weak self] event in
            if case .failed(let error) = event { self?.report(error) }
        }
        state.withLock { $0.connectionObserver = token }
    }

    // MARK: Errors

    /// Gets the errors of all calls, on the thread that calls, and the reasons for which no server could be reached or
    /// started, on a thread of the center. Nil, the default: each error is a line on standard error.
    public var errorHandler: (@Sendable (DistributedError) -> Void)? {
        get { state.withLock { $0.errorHandler } }
        // The old handler is released after the lock, because this may run foreign code.
        set {
            var handler = newValue
            state.withLock { swap(&$0.errorHandler, &handler) }
        }
    }

    private func report(_ error: DistributedError) {
        if let errorHandler {
            errorHandler(error)
        } else {
            StandardError.warn("DistributedNotificationCenter: \(error)")
        }
    }

    /// Calls `body` with the center, and reports errors.
    private func withCenter<Value>(_ body: (DistributedCenter) throws(DistributedError) -> Value) -> Value? {
        do throws(DistributedError) {
            return try body(try center.get())
        } catch {
            report(error)
            return nil
        }
    }

    // MARK: Observing

    /// Adds an observer.
    ///
    /// Notifications for the block are delivered one at a time. With a queue other than the main queue, each is an
    /// operation; the next is added when the operation has finished or was cancelled. The queue is retained.
    /// - Parameters:
    ///   - name: the name to match; nil matches any name.
    ///   - object: the object to match, compared as a string; nil matches any object.
    ///   - suspensionBehavior: what the server does with notifications while delivery is suspended. Apple has this
    ///     parameter only beside a selector.
    ///   - queue: where the block is called. Nil is the main thread.
    ///   - block: gets the notification; its object is a `String` or nil.
    /// - Returns: an object to remove the observer with. It does not remove the observer when it is released. After an
    ///   error it observes nothing.
    @discardableResult
    public func addObserver(
        forName name: Notification.Name?, object: String?, suspensionBehavior: SuspensionBehavior = .coalesce,
        queue: OperationQueue?, using block: @escaping @Sendable (Notification) -> Void
    ) -> any NSObjectProtocol {
        let token = withCenter { center throws(DistributedError) in
            guard let queue, queue !== OperationQueue.main else {
                return try center.addObserver(
                    forName: name, object: object, suspensionBehavior: suspensionBehavior, on: .main
                ) { block(Self.notification($0)) }
            }
            return try center.addObserver(
                forName: name, object: object, suspensionBehavior: suspensionBehavior
            ) { notification async in
                await withCheckedContinuation { continuation in
                    let operation = BlockOperation { block(Self.notification(notification)) }
                    // Called also for an operation that is cancelled before it begins.
                    operation.completionBlock = { continuation.resume() }
                    queue.addOperation(operation)
                }
            }
        }
        guard let token else { return NSObject() }
        let registration = Registration(name, object, token)
        state.withLock { $0.registrations[ObjectIdentifier(registration)] = registration }
        return registration
    }

    /// Removes an observer that `addObserver` returned. Any other object has no effect.
    ///
    /// When this has returned on the main thread, the block is not called there any more. An operation that is in its
    /// queue already is still performed.
    public func removeObserver(_ observer: Any) {
        guard let registration = observer as? Registration else { return }
        let removed = state.withLock { $0.registrations.removeValue(forKey: ObjectIdentifier(registration)) }
        removed?.token.cancel()
    }

    /// Removes an observer, if it was added for this name and object. Nil matches any.
    public func removeObserver(_ observer: Any, name: Notification.Name?, object: String?) {
        guard let observer = observer as? Registration else { return }
        if [nil, observer.name].contains(name), [nil, observer.object].contains(object) { removeObserver(observer) }
    }

    private static func notification(_ notification: DistributedNotification) -> Notification {
        Notification(
            name: notification.name, object: notification.object,
            userInfo: notification.userInfo?.mapValues(\.foundationObject))
    }

    // MARK: Posting

    /// Posts a notification to the observers of all processes, including this one. It does not wait for them; it waits
    /// as `DistributedCenter.post` does.
    ///
    /// - Parameters:
    ///   - name: the notification's name.
    ///   - object: identifies the sender.
    ///   - userInfo: a property list with string keys; see `PropertyListValue` for its limits.
    ///   - deliverImmediately: delivers also to processes that have suspended delivery.
    public func post(
        name: Notification.Name, object: String?, userInfo: [AnyHashable: Any]? = nil, deliverImmediately: Bool = false,
        file: String = #fileID, line: Int = #line
    ) {
        _ = withCenter { center throws(DistributedError) in
            let userInfo = try userInfo.map { userInfo throws(DistributedError) in
                try [String: PropertyListValue](userInfo: userInfo)
            }
            try center.post(
                name: name, object: object, userInfo: userInfo, deliverImmediately: deliverImmediately, file: file,
                line: line)
        }
    }

    /// Posts a notification. Its object must be a string or nil.
    public func post(_ notification: Notification, file: String = #fileID, line: Int = #line) {
        let object = notification.object as? String
        if object == nil, let other = notification.object {
            report(.objectNotUsable(object: "\(other)", problem: "is of the type \(type(of: other)), and not a string"))
        } else {
            post(name: notification.name, object: object, userInfo: notification.userInfo, file: file, line: line)
        }
    }

    /// Posts a notification.
    public func postNotificationName(
        _ name: Notification.Name, object: String?, userInfo: [AnyHashable: Any]? = nil, deliverImmediately: Bool,
        file: String = #fileID, line: Int = #line
    ) {
        post(
            name: name, object: object, userInfo: userInfo, deliverImmediately: deliverImmediately, file: file,
            line: line)
    }

    /// Posts a notification.
    public func postNotificationName(
        _ name: Notification.Name, object: String?, userInfo: [AnyHashable: Any]? = nil, options: Options = [],
        file: String = #fileID, line: Int = #line
    ) {
        post(
            name: name, object: object, userInfo: userInfo, deliverImmediately: options.contains(.deliverImmediately),
            file: file, line: line)
    }

    // MARK: Suspension

    /// True if delivery to this process is suspended. The server then handles notifications as the suspension behavior
    /// of each observer says.
    ///
    /// A change takes effect when the server has read the request; see `DistributedCenter.suspend()`. On Apple's
    /// platforms an application sets this when it is hidden.
    public var suspended: Bool {
        get { withCenter { $0.isSuspended } ?? false }
        set {
            _ = withCenter { center in
                if newValue { center.suspend() } else { center.resume() }
            }
        }
    }
}
