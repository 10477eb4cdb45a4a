/// What a drain may still deliver before its budget is spent: a pure value.
///
/// It asks for the time after 1, 2, 4, 8 and then each 16 deliveries, while these take a small part of the time that is
/// left, and otherwise after each delivery.
struct DrainSlice {
    private static let mostUnseen = 16
    /// Deliveries are fast if those since the last look took at most this part of the time that is left.
    private static let smallPart: UInt64 = 16

    /// The deliveries that are allowed without a decision.
    private var allowed: Int
    /// The deliveries of the budget that follow.
    private var deliveriesLeft: Int
    /// The time of the budget, in nanoseconds; `max`: any time.
    private var time: UInt64
    /// When the time began; 0 before.
    private var begin: UInt64 = 0
    private var lastLook: UInt64 = 0
    /// The deliveries between two looks at the clock.
    private var unseen = 1

    init(_ budget: DrainBudget) {
        deliveriesLeft = budget.deliveries ?? .max
        time = budget.time.map { UInt64(min($0, .seconds(1_000_000_000)) / .nanoseconds(1)) } ?? .max
        // The first delivery is always allowed.
        allowed = time == .max ? deliveriesLeft : 1
        deliveriesLeft -= allowed
    }

    static let unbounded = DrainSlice(.unbounded)

    /// The budget is also spent after this time, in nanoseconds. Called before the first delivery.
    mutating func limit(to nanoseconds: UInt64) {
        guard nanoseconds < time else { return }
        time = nanoseconds
        deliveriesLeft += allowed - 1
        allowed = 1
    }

    /// The drain begins, and has more than one delivery.
    @inline(__always)
    mutating func begins(at now: @autoclosure () -> UInt64) {
        guard time != .max, begin == 0 else { return }
        begin = now()
        lastLook = begin
    }

    /// Counts a delivery.
    /// - Returns: false if it must not be made, because the budget is spent.
    @inline(__always)
    mutating func allowsAnother(at now: @autoclosure () -> UInt64) -> Bool {
        if allowed > 0 {
            allowed -= 1
            return true
        }
        return deliveriesLeft > 0 && decide(now())
    }

    @inline(never)
    private mutating func decide(_ now: UInt64) -> Bool {
        begins(at: now)
        guard now - begin < time else { return false }
        let isFast = (now - lastLook) * Self.smallPart <= time - (now - begin)
        unseen = isFast ? min(2 * unseen, Self.mostUnseen) : 1
        lastLook = now
        allowed = min(unseen, deliveriesLeft)
        deliveriesLeft -= allowed
        allowed -= 1
        return true
    }
}
