internal import Foundation
internal import ThreadedNotifications

/// Hands what the server sends to a center's observers, and drops what exceeds `ClientLimits.waitingBytes`.
struct InboundDelivery {
    private let connection: CenterConnection
    private var recipients = Recipients()
    private var overflow = LostNotifications()
    private var unreadable = LostNotifications()

    init(_ connection: CenterConnection) {
        self.connection = connection
    }

    mutating func deliver(_ post: InboundPost) {
        recipients.update(for: post, connection.state)
        let observers = recipients.observers
        // All may have been removed while the notification was under way.
        guard !observers.isEmpty else { return }
        let payload = post.payload
        var userInfo: [String: PropertyListValue]?
        var values = 0
        if payload.flags & PostedPayload.hasUserInfo != 0 {
            guard let decoded = try? PropertyListReader.decode(payload.userInfo) else {
                unreadable.add(for: observers)
                return reportUnreadable()
            }
            (userInfo, values) = (decoded.value, decoded.nodes)
        }
        let size = InboundNotification.size(bytes: post.payloadSize, values: values)
        // After a loss nothing is accepted until there is room for more than one notification.
        guard overflow.isEmpty || connection.waiting.takeRoom(), connection.waiting.reserve(size) else {
            return overflow.add(for: observers)
        }
        reportOverflow()
        let name = recipients.name
        let object = payload.object.map { String(decoding: $0, as: UTF8.self) }
        let inbound = InboundNotification(
            DistributedNotification(name: name, object: object, userInfo: userInfo, sender: post.sender),
            size: size, of: connection.waiting)
        connection.observers.deliver(inbound, named: name, object: object, to: observers)
    }

    func deliverGap(count: Int, cause: NotificationGap.Cause, observers: [(number: UInt32, count: Int)]) {
        var gap = NotificationGap(count: count, cause: cause)
        connection.state.withLock { state in
            for (number, count) in observers {
                if let id = state.observers[number]?.handle.id { gap.observers[id] = count }
            }
        }
        connection.post(.gap(gap))
    }

    /// Reports the losses that there is room for again.
    mutating func reportIfRoom() {
        guard connection.waiting.takeRoom() else { return }
        reportOverflow()
        reportUnreadable()
    }

    mutating func reportOverflow() {
        if let gap = overflow.take(cause: .waiting) { connection.post(.gap(gap)) }
    }

    /// Any process can post unreadable bytes at any rate, so these events count as waiting.
    private mutating func reportUnreadable() {
        guard !unreadable.isEmpty, connection.waiting.reserve(InboundEvent.size),
            let gap = unreadable.take(cause: .unreadable)
        else { return }
        connection.post(.gap(gap), of: connection.waiting)
    }
}
