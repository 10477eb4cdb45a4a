internal import Foundation

/// The deliveries that wait for an observer with a limit: a pure value of the observer. The queue of its thread has a
/// ticket with the number of each. A ticket without a delivery is passed over.
///
/// Cost: constant on average, whatever else waits.
struct BoundedDeliveries {
    typealias Number = UInt64

    enum Added {
        /// It waits under this number. Another was given up for it.
        case waits(Number, displaced: Held?)
        case refused
        /// Newer ones wait.
        case obsolete
        /// Another thread has changed the candidates since `candidates`.
        case mustCompareAgain
    }

    /// The caller releases it without the lock, because that calls foreign code.
    struct Held {
        var delivery: Delivery
        var key: NotificationKey?
    }

    private var held: [Number: Held] = [:]
    private(set) var lastNumber: Number = 0
    /// No number below it is held.
    private var oldest: Number = 1
    /// For `keepLatest`: the numbers by the hashes of their keys.
    private var numbers: [Int: [Number]] = [:]
    private(set) var version: UInt64 = 0

    var heldNumbers: Set<Number> { Set(held.keys) }

    /// The deliveries that one with this hash may replace. The caller compares the keys, which calls foreign code.
    func candidates(hash: Int) -> [(number: Number, key: NotificationKey)] {
        (numbers[hash] ?? []).compactMap { number in held[number]?.key.map { (number, $0) } }
    }

    /// - Parameters:
    ///   - replacing: for `keepLatest`, what it replaces.
    ///   - version: the version of the candidates.
    mutating func add(
        _ delivery: Delivery, _ policy: OverflowPolicy, key: NotificationKey? = nil, replacing: Number? = nil,
        version: UInt64 = 0
    ) -> Added {
        if delivery.isLatest, !held.isEmpty { return .obsolete }
        var displaced: Held?
        switch policy.rule {
        case .unbounded: break
        case .keepLatest:
            if key != nil, version != self.version { return .mustCompareAgain }
            displaced = replacing.flatMap { take($0) }
        case .dropNewest, .refuse:
            if held.count >= policy.capacity ?? .max { return .refused }
        case .dropOldest:
            if held.count >= policy.capacity ?? .max {
                while held[oldest] == nil { oldest += 1 }
                displaced = take(oldest)
            }
        }
        lastNumber += 1
        noteChange()
        held[lastNumber] = Held(delivery: delivery, key: key)
        if let key { numbers[key.hash, default: []].append(lastNumber) }
        return .waits(lastNumber, displaced: displaced)
    }

    /// - Returns: nil if it was given up.
    mutating func take(_ number: Number) -> Held? {
        guard let taken = held.removeValue(forKey: number) else { return nil }
        noteChange()
        if held.isEmpty { oldest = lastNumber + 1 }
        if let hash = taken.key?.hash {
            numbers[hash]?.removeAll { $0 == number }
            if numbers[hash]?.isEmpty == true { numbers[hash] = nil }
        }
        return taken
    }

    private mutating func noteChange() { version += 1 }
}

/// The name and object of a notification, to find a waiting notification that a later one replaces. The object is not
/// retained.
final class NotificationKey: Sendable {
    private let name: Notification.Name
    /// Nil: the notification has no object.
    private let object: ObjectFilter?
    let hash: Int

    /// - Returns: nil for an object that cannot be compared.
    init?(name: Notification.Name, object: NotificationObject) {
        self.name = name
        switch object {
        case .incomparable: return nil
        case .none: self.object = nil
        case .object, .value: self.object = ObjectFilter(object)
        }
        hash = name.hashValue ^ (object.hash ?? 0)
    }

    /// Calls foreign code, if the object is a value.
    func isSame(asName name: Notification.Name, object: NotificationObject) -> Bool {
        guard self.name == name else { return false }
        if let wanted = self.object { return wanted.matches(object) }
        return if case .none = object { true } else { false }
    }
}
