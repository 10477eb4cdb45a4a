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
    private var overflow = Losses(cause: .waiting)
    private var unreadable = Losses(cause: .unreadable)

    init(_ connection: CenterConnection) { self.connection = connection }

    mutating func deliver(_ post: InboundPost) {
        recipients.update(for: post, connection.state)
        // All may have been removed while the notification was under way.
        guard !recipients.ids.isEmpty else { return }
        var userInfo: EncodedUserInfo?
        var values = 0
        if post.payload.hasUserInfo {
            do throws(PropertyListReader.Problem) {
                values = try PropertyListReader.check(post.payload.userInfo)
            } catch {
                unreadable.add(for: recipients.ids, problem: "\(error)")
                return reportUnreadable()
            }
            userInfo = EncodedUserInfo(checked: Array(post.payload.userInfo))
        }
        let size = InboundNotification.size(bytes: post.payload.count, values: values)
        // After a loss nothing is accepted until there is room for more than one notification.
        guard overflow.isEmpty || connection.waiting.takeRoom(), connection.waiting.reserve(size) else {
            return overflow.add(for: recipients.ids)
        }
        reportOverflow()
        connection.observers.deliver(
            InboundNotification(
                DistributedNotification(recipients.name, recipients.object, userInfo, sender: post.sender), size: size,
                of: connection.waiting),
            named: recipients.name, object: recipients.object, to: recipients.group,
            origin: DistributedCenter.origin(post.sender, post.payload.number))
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

    /// Reports the losses that there is room for again. Called when the reader was woken, also while it waits to
    /// connect.
    mutating func reportIfRoom() {
        if connection.waiting.takeRoom() { reportOverflow() }
        reportUnreadable()
    }

    mutating func reportOverflow() {
        guard let gap = overflow.take() else { return }
        connection.post(.gap(gap))
        reportUnreadable()
    }

    /// Any process can post what cannot be used at any rate, so these events count as waiting.
    private mutating func reportUnreadable() {
        for isUndecodable in [false, true] {
            let isEmpty = isUndecodable ? connection.undecodable.withLock { $0.isEmpty } : unreadable.isEmpty
            guard !isEmpty, connection.waiting.reserve(InboundEvent.size) else { continue }
            let gap = isUndecodable ? connection.undecodable.withLock { $0.take() } : unreadable.take()
            if let gap { connection.post(.gap(gap), of: connection.waiting) }
        }
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

/// Lost notifications of one cause that no gap has reported yet.
struct Losses {
    private var gap: NotificationGap

    init(cause: NotificationGap.Cause) { gap = NotificationGap(count: 0, cause: cause) }

    var isEmpty: Bool { gap.count == 0 }

    /// - Parameter problem: kept, if it is the first.
    mutating func add(for observers: [UInt64], problem: @autoclosure () -> String? = nil) {
        gap.count += 1
        if gap.problem == nil { gap.problem = problem() }
        for id in observers { gap.observers[id, default: 0] += 1 }
    }

    /// - Returns: the gap; nil if nothing was lost.
    mutating func take() -> NotificationGap? {
        guard !isEmpty else { return nil }
        defer { self = Losses(cause: gap.cause) }
        return gap
    }
}

/// A notification on its way from the reader to the observers' threads. It counts as waiting until the last observer
/// has handled it or was removed.
final class InboundNotification: Sendable {
    let notification: DistributedNotification
    private let size: Int
    private let waiting: WaitingBytes

    /// - Parameter size: was reserved in `waiting`.
    init(_ notification: DistributedNotification, size: Int, of waiting: WaitingBytes) {
        (self.notification, self.size, self.waiting) = (notification, size, waiting)
    }

    deinit { waiting.release(size) }

    /// The size for which a notification counts: its bytes on the wire, 64 for each value of its userInfo, and 256.
    static func size(bytes: Int, values: Int) -> Int { bytes + 64 * values + 256 }
}

/// A connection event on its way to the observers' threads.
final class InboundEvent: Sendable {
    let event: ConnectionEvent
    private let waiting: WaitingBytes?

    /// The size for which an event counts.
    static let size = 512

    /// - Parameter waiting: where `size` was reserved; nil for a rare event, which does not count.
    init(_ event: ConnectionEvent, of waiting: WaitingBytes?) { (self.event, self.waiting) = (event, waiting) }

    deinit { waiting?.release(Self.size) }
}

/// How many bytes wait in this process for the observers' threads, against a limit.
///
/// - Threads: one thread calls `reserve` and `takeRoom`; any thread calls `release`.
final class WaitingBytes: Sendable {
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
        used.add(size, ordering: .relaxed)
        return true
    }

    func release(_ size: Int) {
        used.subtract(size, ordering: .sequentiallyConsistent)
        if isFull.load(ordering: .sequentiallyConsistent), hasRoom { roomEvent.makeReady() }
    }

    /// Whether half of the limit is free again after a refusal. Returns true once for each time that the limit was
    /// reached.
    func takeRoom() -> Bool { hasRoom && isFull.exchange(false, ordering: .sequentiallyConsistent) }

    private var hasRoom: Bool { used.load(ordering: .sequentiallyConsistent) <= limit / 2 }
}
