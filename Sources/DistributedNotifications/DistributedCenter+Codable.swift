public import Foundation
public import ThreadedNotifications

extension DistributedCenter {
    /// Posts a notification with a value as its userInfo: the keys of the value are those of the userInfo.
    ///
    ///     struct Saved: Codable { var path: String; var pages: Int? }
    ///
    ///     try center.post(name: .saved, codable: Saved(path: path, pages: 3))
    ///     token = try center.addObserver(forName: .saved, as: Saved.self) { saved in window.show(saved.path) }
    ///
    /// Foundation's `PropertyListEncoder` makes the userInfo: integers, reals, booleans, strings, `Date` and `Data`
    /// keep their kinds, and a nil is left out; in an array it is the string "$null". The coders take every such string
    /// for nil. A `PropertyListValue` in the value is encoded as for JSON, so its dates and data become strings.
    /// - Throws: the errors of `post(name:object:userInfo:deliverImmediately:file:line:)`. `.userInfoNotUsable` has the
    ///   path of the value that cannot be encoded.
    @available(*, noasync, message: "it may block the thread; use await")
    public func post(
        name: Notification.Name, object: String? = nil, codable value: some Encodable,
        deliverImmediately: Bool = false, file: String = #fileID, line: Int = #line
    ) throws(DistributedError) {
        let userInfo = try [String: PropertyListValue](encoding: value)
        try post(name, object, userInfo, deliverImmediately, SourceLocation(file, line))
    }

    public func post(
        name: Notification.Name, object: String? = nil, codable value: some Encodable,
        deliverImmediately: Bool = false, file: String = #fileID, line: Int = #line
    ) async throws(DistributedError) {
        try await post(
            name: name, object: object, userInfo: try [String: PropertyListValue](encoding: value),
            deliverImmediately: deliverImmediately, file: file, line: line)
    }

    /// Adds an observer on the main thread that gets the userInfo as a value of a type.
    ///
    /// A notification whose userInfo is not of the type is not handled, and reported by a gap with the cause
    /// `undecodable`, whose `problem` has the path of the first value that did not fit; see `addConnectionObserver`.
    public func addObserver<Value: Decodable & Sendable>(
        forName name: Notification.Name, object: String? = nil, as type: Value.Type,
        suspensionBehavior: SuspensionBehavior = .coalesce, on thread: MainThread = .main,
        options: ObserverOptions = ObserverOptions(), file: String = #fileID, line: Int = #line,
        using handler: @escaping @MainActor (Value) -> Void
    ) throws(DistributedError) -> ObserverToken {
        let decode = decoder(of: type)
        return try connection.addObserver(
            name, object, suspensionBehavior, options, SourceLocation(file, line),
            .onMain { notification in if let value = decode(notification) { handler(value) } })
    }

    /// As the one above, on another thread.
    @_disfavoredOverload
    public func addObserver<Value: Decodable & Sendable>(
        forName name: Notification.Name, object: String? = nil, as type: Value.Type,
        suspensionBehavior: SuspensionBehavior = .coalesce, on thread: some DeliveryTarget,
        options: ObserverOptions = ObserverOptions(), file: String = #fileID, line: Int = #line,
        using handler: @escaping @Sendable (Value) -> Void
    ) throws(DistributedError) -> ObserverToken {
        let decode = decoder(of: type)
        return try connection.addObserver(
            name, object, suspensionBehavior, options, SourceLocation(file, line),
            .on(thread) { notification in if let value = decode(notification) { handler(value) } })
    }

    private func decoder<Value: Decodable & Sendable>(
        of type: Value.Type
    ) -> @Sendable (DistributedNotification) -> Value? {
        { [weak connection] notification in
            do throws(DistributedError) { return try notification.value(as: type) } catch {
                connection?.post(.gap(NotificationGap(count: 1, cause: .undecodable, problem: error.description)))
                return nil
            }
        }
    }
}
