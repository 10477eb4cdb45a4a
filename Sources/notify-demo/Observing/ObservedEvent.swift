import DistributedNotifications
import Foundation
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
