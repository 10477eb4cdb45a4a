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
    private var name, object, processName, reason, problem: String?
    private var userInfo: [String: PropertyListValue]?
    private var origin: DistributedNotification.Origin?
    private var process: Int32?
    private var thread: ThreadIdentity?
    private(set) var serverProcess: Int32?
    private var count: Int?
    private var cause: NotificationGap.Cause?

    init(_ notification: DistributedNotification, senderName: String?, thread: ThreadIdentity = .current) {
        kind = .notification
        (name, object, userInfo) = (notification.name.rawValue, notification.object, notification.userInfo)
        (origin, process, processName) = (notification.origin, notification.sender, senderName)
        self.thread = thread
    }

    init(_ event: ConnectionEvent) {
        switch event {
        case .connected(let server): (kind, serverProcess) = (.connected, server)
        case .interrupted(let reason): (kind, self.reason) = (.interrupted, reason)
        case .gap(let gap): (kind, count, cause, problem) = (.gap, gap.count, gap.cause, gap.problem)
        case .failed(let error): (kind, problem) = (.failed, error.description)
        }
    }

    /// In words, without the time. Characters that a terminal might interpret are escaped.
    var text: String {
        let problem = problem.map(ShownText.escaped) ?? ""
        switch kind {
        case .notification:
            let object = object.map { " of \(ShownText.quoted($0))" } ?? ""
            let userInfo = userInfo.map { " with \(ShownText.escaped((try? JSONText.of($0)) ?? ""))" } ?? ""
            let sender =
                origin.map { ShownText.escaped("\($0.user)@\($0.machine)") }
                ?? "\(ShownText.escaped(processName ?? ""))[\(process ?? 0)]"
            return "\(sender) → \(thread?.number ?? 0) "
                + "\(thread?.name ?? "(null)"): \(ShownText.name(name ?? ""))\(object)\(userInfo)"
        case .connected:
            return "connected: server \(serverProcess ?? 0) has registered the observers of this process"
        case .interrupted:
            return "interrupted: \(ShownText.escaped(reason ?? "")); notifications may be lost"
        case .gap:
            return "gap: not delivered: \(counted(count ?? 0, "notification")), \(cause?.rawValue ?? "") \(problem)"
        case .failed: return "failed: \(problem)"
        }
    }

    /// One line: `2016-02-13 22:05:12.856 make[865] → 1 main: build-done of "Kitchen" with {"dishes":3}`.
    func line(_ style: DocumentStyle = DocumentStyle()) -> String { "\(style.time(wall)) \(text)" }
}
