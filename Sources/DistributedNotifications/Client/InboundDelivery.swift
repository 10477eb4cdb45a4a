internal import Foundation
internal import ThreadedNotifications

/// Hands what the server sends to a center's observers. A notification is matched once for all of its observers. Its
/// userInfo is checked here and decoded when it is first asked for.
struct InboundDelivery {
    private let connection: CenterConnection
    private var recipients = Recipients()
    private var continuity = Continuity()

    init(_ connection: CenterConnection) { self.connection = connection }

    mutating func deliver(_ post: InboundPost) {
        let removals = recipients.removals
        recipients.update(for: post, connection.state)
        // What is posted for a removed observer is not received, and not lost.
        if recipients.removals != removals { continuity.restart() }
        // All may have been removed while the notification was under way.
        guard !recipients.isEmpty else { return }
        let payload = post.payload
        switch continuity.receive(payload) {
        case .duplicate: return
        case .new(missing: 0): break
        case .new(let missing): connection.post(.gap(NotificationGap(count: missing, cause: .missing)))
        }
        if payload.hasUserInfo {
            do throws(PropertyListReader.Problem) {
                try PropertyListReader.check(payload.userInfo)
            } catch {
                return connection.post(.gap(NotificationGap(count: 1, cause: .unreadable, problem: "\(error)")))
            }
        }
        let notification = DistributedNotification(
            recipients.name, recipients.object,
            payload.hasUserInfo ? EncodedUserInfo(checked: Array(payload.userInfo)) : nil,
            origin: payload.origin.map { DistributedNotification.Origin($0) }, sender: post.sender)
        connection.observers.deliver(
            PayloadValue(notification, named: recipients.name, object: recipients.object), to: recipients.group,
            origin: DistributedCenter.origin(post.sender, payload.record))
    }

    mutating func report(_ gap: NotificationGap) {
        // What is skipped for another reason need not be lost: see the behaviors of suspended observers.
        if gap.cause == .slow { continuity.explain(gap.count) } else { continuity.restart() }
        if gap.count > 0 { connection.post(.gap(gap)) }
    }

    mutating func connectionEnded() {
        // A server that is killed does not say what it skipped.
        if connection.state.withLock({ $0.mayHaveSkips }) { continuity.restart() }
    }
}

/// The name and object of a notification, and its observers. The next notification usually has the same, and then needs
/// no lookup.
private struct Recipients {
    private(set) var name = Notification.Name("")
    private(set) var object: String?
    private(set) var group = ValueObservers.Group([])
    private(set) var isEmpty = true
    /// How many observers were removed until they were looked up.
    private(set) var removals = 0
    private var nameAndObject = NameAndObject()
    private var numbers: [UInt8] = []
    /// The state's when the observers were looked up.
    private var version = -1

    mutating func update(for post: InboundPost, _ state: Locked<CenterState>) {
        if !nameAndObject.isEqual(post.payload.nameAndObject) {
            nameAndObject = NameAndObject(bytes: post.payload.nameAndObject)
            (name, object) = (Notification.Name(nameAndObject.name ?? ""), nameAndObject.object)
        }
        let areSame = numbers.elementsEqual(post.numbers)
        let found: [ValueObservers.Handle]? = state.withLock { state in
            if areSame, version == state.observersVersion { return nil }
            (version, removals) = (state.observersVersion, state.removals)
            return post.observerNumbers.compactMap { state.observers[$0]?.handle }
        }
        guard let found else { return }
        (group, isEmpty, numbers) = (ValueObservers.Group(found), found.isEmpty, Array(post.numbers))
    }
}
