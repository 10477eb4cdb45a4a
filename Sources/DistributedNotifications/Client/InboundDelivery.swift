internal import Foundation
internal import Glibc
internal import Synchronization
internal import ThreadedNotifications

/// Hands what the server sends to a center's observers, and drops what exceeds `ClientLimits.waitingBytes`. A
/// notification is matched once for all of its observers, and its userInfo is checked here and decoded when it is first
/// asked for.
struct InboundDelivery {
    private let connection: CenterConnection
    private var recipients = Recipients()
    /// The dropped notifications that were not reported yet.
    private var losses = NotificationGap(count: 0, cause: .waiting)

    init(_ connection: CenterConnection) { self.connection = connection }

    mutating func deliver(_ post: InboundPost) {
        recipients.update(for: post, connection.state)
        // All may have been removed while the notification was under way.
        guard !recipients.ids.isEmpty else { return }
        let payload = post.payload
        var values = 0
        var problem: String?
        if payload.hasUserInfo {
            do throws(PropertyListReader.Problem) {
                values = try PropertyListReader.check(payload.userInfo)
            } catch {
                problem = "\(error)"
            }
        }
        let size = payload.count + 64 * values + 256
        // After a loss nothing is accepted until there is room for more than one notification.
        guard losses.count == 0 || connection.waiting.takeRoom(), connection.waiting.reserve(size) else {
            losses.add(for: recipients.ids)
            return
        }
        reportLosses()
        if let problem {
            var gap = NotificationGap(count: 0, cause: .unreadable, problem: problem)
            gap.add(for: recipients.ids)
            connection.waiting.release(size)
            return connection.post(.gap(gap))
        }
        let notification = DistributedNotification(
            recipients.name, recipients.object,
            payload.hasUserInfo ? EncodedUserInfo(checked: Array(payload.userInfo)) : nil, sender: post.sender)
        let value = PayloadValue(
            notification, named: recipients.name, object: recipients.object, size: size, of: connection.waiting)
        connection.observers.deliver(
            value, to: recipients.group, origin: DistributedCenter.origin(post.sender, payload.number))
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

    /// Reports the losses if there is room again. Called when the reader was woken, also while it waits to connect.
    mutating func reportIfRoom() { if connection.waiting.takeRoom() { reportLosses() } }

    mutating func reportLosses() {
        guard losses.count > 0 else { return }
        connection.post(.gap(losses))
        losses = NotificationGap(count: 0, cause: .waiting)
    }
}

extension NotificationGap {
    fileprivate mutating func add(for ids: [UInt64]) {
        count += 1
        for id in ids { observers[id, default: 0] += 1 }
    }
}

/// The name and object of a notification, and its observers. The next notification usually has the same, and then needs
/// no lookup.
private struct Recipients {
    private(set) var name = Notification.Name("")
    private(set) var object: String?
    private(set) var group = ValueObservers.Group([])
    /// By the observers' tokens.
    private(set) var ids: [UInt64] = []
    /// As in the frame.
    private var head: [UInt8] = []
    private var numbers: [UInt8] = []
    /// The state's when the observers were looked up.
    private var version = -1

    mutating func update(for post: InboundPost, _ state: Locked<CenterState>) {
        if !Self.isEqual(head, post.payload.head) {
            head = Array(post.payload.head)
            name = Notification.Name(String(decoding: post.payload.name, as: UTF8.self))
            object = post.payload.object.map { String(decoding: $0, as: UTF8.self) }
        }
        let areSame = Self.isEqual(numbers, post.numbers)
        let found: [ValueObservers.Handle]? = state.withLock { state in
            if areSame, version == state.observersVersion { return nil }
            version = state.observersVersion
            return post.observerNumbers.compactMap { state.observers[$0]?.handle }
        }
        guard let found else { return }
        (group, ids, numbers) = (ValueObservers.Group(found), found.map(\.id), Array(post.numbers))
    }

    private static func isEqual(_ array: [UInt8], _ bytes: UnsafeRawBufferPointer) -> Bool {
        guard array.count == bytes.count else { return false }
        guard let start = bytes.baseAddress else { return true }
        return memcmp(array, start, array.count) == 0
    }
}

/// How many bytes wait in this process for the observers' threads, against a limit.
///
/// - Threads: one thread calls `reserve` and `takeRoom`; any thread calls `add` and `release`.
final class WaitingBytes: Reservation {
    private let limit: Int
    private let used = Atomic(0)
    /// A reservation was refused, and `takeRoom` has not yet returned true since.
    private let isFull = Atomic(false)
    private let roomEvent: EventDescriptor

    /// - Parameter roomEvent: made ready when half of the limit is free again after a refusal.
    init(limit: Int, roomEvent: EventDescriptor) { (self.limit, self.roomEvent) = (limit, roomEvent) }

    /// - Returns: false if the limit would be exceeded. A size above the limit is accepted if nothing waits.
    func reserve(_ size: Int) -> Bool {
        let before = used.load(ordering: .relaxed)
        guard before + size <= limit || before == 0 else {
            isFull.store(true, ordering: .sequentiallyConsistent)
            // Releases that ended before the store did not see it.
            if hasRoom { roomEvent.makeReady() }
            return false
        }
        add(size)
        return true
    }

    /// Adds bytes whatever the limit: events, of which each belongs to a notification that was accepted.
    func add(_ size: Int) { used.add(size, ordering: .relaxed) }

    func release(_ size: Int) {
        used.subtract(size, ordering: .sequentiallyConsistent)
        if isFull.load(ordering: .sequentiallyConsistent), hasRoom { roomEvent.makeReady() }
    }

    /// Whether half of the limit is free again after a refusal. Returns true once for each time that the limit was
    /// reached.
    func takeRoom() -> Bool { hasRoom && isFull.exchange(false, ordering: .sequentiallyConsistent) }

    private var hasRoom: Bool { used.load(ordering: .sequentiallyConsistent) <= limit / 2 }
}
