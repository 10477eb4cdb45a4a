import DeliveryDiagnostics
import DistributedNotifications
import Foundation
import TerminalText
import ThreadedNotifications

/// An event of a distributed observer, as a flat object: a notification, or a change of its connection.
struct ObservedEvent: Encodable, Sendable {
    enum Kind: String, Encodable { case notification, connected, interrupted, gap, failed }

    /// Determines the other properties. Nil values are omitted.
    let kind: Kind
    /// The time by the wall clock, in nanoseconds since 1970-01-01 UTC.
    var wall = Int64(Date().timeIntervalSince1970 * 1_000_000_000)
    private var name, object: String?
    private var userInfo: [String: PropertyListValue]?
    private var process: Int32?
    private var processName: String?
    private var thread: ThreadIdentity?
    private(set) var serverProcess: Int32?
    private var reason: String?
    private var count: Int?
    private var cause: NotificationGap.Cause?
    private var problem: String?
    /// In words, without the time. Characters that a terminal might interpret are escaped.
    let text: String

    private enum CodingKeys: String, CodingKey {
        case kind, wall, name, object, userInfo, process, processName, thread, serverProcess, reason, count, cause
        case problem
    }

    /// - Parameter senderName: nil if it is unknown, for example because the sending process has ended.
    init(_ notification: DistributedNotification, senderName: String?, thread: ThreadIdentity) {
        kind = .notification
        (name, object, userInfo) = (notification.name.rawValue, notification.object, notification.userInfo)
        (process, processName, self.thread) = (notification.sender, senderName, thread)
        let details = [
            notification.object.map { " of \(ShownText.quoted($0))" },
            notification.userInfo.map { " with \(ShownText.escaped((try? JSONText.of($0)) ?? ""))" },
        ]
        text =
            "\(senderName.map(ShownText.escaped) ?? "")[\(notification.sender)] → \(thread.number) "
            + "\(thread.name ?? "(null)"): \(ShownText.name(notification.name.rawValue))"
            + details.compactMap(\.self).joined()
    }

    init(_ notification: DistributedNotification) {
        let sender = try? String(contentsOfFile: "/proc/\(notification.sender)/comm", encoding: .utf8)
        self.init(notification, senderName: sender?.trimmingCharacters(in: .newlines), thread: .current)
    }

    init(_ event: ConnectionEvent) {
        switch event {
        case .connected(let server):
            (kind, serverProcess) = (.connected, server)
            text = "connected: server \(server) has registered the observers of this process"
        case .interrupted(let reason):
            (kind, self.reason) = (.interrupted, reason)
            text = "interrupted: \(ShownText.escaped(reason)); an unknown number of notifications was lost"
        case .gap(let gap):
            (kind, count, cause) = (.gap, gap.count, gap.cause)
            text =
                "gap: \(gap.count) \(gap.count == 1 ? "notification was" : "notifications were") not delivered: "
                + Self.explanation(of: gap.cause) + (gap.problem.map { ": \(ShownText.escaped($0))" } ?? "")
        case .failed(let error):
            (kind, problem) = (.failed, error.description)
            text = "failed: \(ShownText.escaped(error.description))"
        }
    }

    /// One line: `2016-02-13 22:05:12.856 make[865] → 1 main: build-done of "Kitchen" with {"dishes":3}`.
    func line(_ style: DocumentStyle = DocumentStyle()) -> String { "\(style.time(wall)) \(text)" }

    private static func explanation(of cause: NotificationGap.Cause) -> String {
        switch cause {
        case .slow: "this process read more slowly than others posted"
        case .held: "while this process was suspended, more arrived than the server holds"
        case .waiting: "the thread that handles them was too slow"
        case .unreadable: "their sender sent an invalid property list"
        case .undecodable: "their userInfo is of another type"
        }
    }
}
