import DeliveryDiagnostics
import DistributedNotifications
import Foundation
import TerminalText
import ThreadedNotifications

/// An event of a distributed observer: a notification, or a change of its connection.
struct ObservedEvent: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        /// - Parameter senderName: nil if it is unknown, for example because the sending process has ended.
        case notification(DistributedNotification, senderName: String?, thread: ThreadIdentity)
        case connection(ConnectionEvent)
    }

    /// The time by the wall clock, in nanoseconds since 1970-01-01 UTC.
    var wallNanoseconds = Int64(Date().timeIntervalSince1970 * 1_000_000_000)
    var kind: Kind
}

extension ObservedEvent: Encodable {
    private enum CodingKeys: String, CodingKey {
        case kind, wall
        case name, object, userInfo, process, processName, thread
        case serverProcess, reason, count, cause, problem
    }

    /// One flat object. `kind` determines the other keys. Nil values are omitted.
    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: CodingKeys.self)
        try object.encode(wallNanoseconds, forKey: .wall)
        switch kind {
        case .notification(let notification, let senderName, let thread):
            try object.encode("notification", forKey: .kind)
            try object.encode(notification.name.rawValue, forKey: .name)
            try object.encodeIfPresent(notification.object, forKey: .object)
            try object.encodeIfPresent(notification.userInfo, forKey: .userInfo)
            try object.encode(notification.sender, forKey: .process)
            try object.encodeIfPresent(senderName, forKey: .processName)
            try object.encode(thread, forKey: .thread)
        case .connection(.connected(let serverProcess)):
            try object.encode("connected", forKey: .kind)
            try object.encode(serverProcess, forKey: .serverProcess)
        case .connection(.interrupted(let reason)):
            try object.encode("interrupted", forKey: .kind)
            try object.encode(reason, forKey: .reason)
        case .connection(.gap(let gap)):
            try object.encode("gap", forKey: .kind)
            try object.encode(gap.count, forKey: .count)
            try object.encode(gap.cause, forKey: .cause)
        case .connection(.failed(let error)):
            try object.encode("failed", forKey: .kind)
            try object.encode(error.description, forKey: .problem)
        }
    }
}

extension ObservedEvent {
    /// The event as one line: `2016-02-13 22:05:12.856 make[865] → 1 main: build-done of "Kitchen" with {"dishes":3}`.
    /// Characters that a terminal might interpret are escaped.
    func line(_ style: DocumentStyle = DocumentStyle()) throws -> String {
        let text: String
        switch kind {
        case .notification(let notification, let senderName, let thread):
            let userInfo = try notification.userInfo.map { " with \(ShownText.escaped(try JSONText.of($0)))" } ?? ""
            let object = notification.object.map { " of \(ShownText.quoted($0))" } ?? ""
            text =
                "\(senderName.map(ShownText.escaped) ?? "")[\(notification.sender)] → \(thread.number) "
                + "\(thread.name ?? "(null)"): \(ShownText.name(notification.name.rawValue))\(object)\(userInfo)"
        case .connection(let event): text = Self.text(of: event)
        }
        return "\(style.time(wallNanoseconds)) \(text)"
    }

    /// Describes a connection event, without the time.
    static func text(of event: ConnectionEvent) -> String {
        switch event {
        case .connected(let serverProcess):
            "connected: server \(serverProcess) has registered the observers of this process"
        case .interrupted(let reason):
            "interrupted: \(ShownText.escaped(reason)); an unknown number of notifications was lost"
        case .gap(let gap):
            "gap: \(gap.count) \(gap.count == 1 ? "notification was" : "notifications were") not delivered: "
                + explanation(of: gap.cause)
        case .failed(let error): "failed: \(ShownText.escaped(error.description))"
        }
    }

    private static func explanation(of cause: NotificationGap.Cause) -> String {
        switch cause {
        case .slow: "this process read more slowly than others posted"
        case .held: "while this process was suspended, more arrived than the server holds"
        case .waiting: "the thread that handles them was too slow"
        case .unreadable: "their sender sent an invalid property list"
        }
    }
}
