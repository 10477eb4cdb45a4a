import DeliveryDiagnostics
import DistributedNotifications
import Foundation
import ThreadedNotifications

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
