internal import DistributedNotifications

/// How much more one process may post now. Times are the monotonic clock's, in nanoseconds.
struct TokenBucket {
    private var tokens: Int
    private let capacity: Int
    private let perSecond: Int
    private var filledAt: UInt64

    init(capacity: Int, perSecond: Int, now: UInt64) {
        self.capacity = max(capacity, 1)
        tokens = self.capacity
        self.perSecond = max(perSecond, 1)
        filledAt = now
    }

    /// How many tokens there are.
    mutating func available(now: UInt64) -> Int {
        let nanoseconds = now &- filledAt
        let new = UInt64(perSecond).multipliedFullWidth(by: nanoseconds)
        let tokensMade = new.high >= 1_000_000_000 ? UInt64.max : UInt64(1_000_000_000).dividingFullWidth(new).quotient
        if tokensMade > 0 {
            if tokensMade >= UInt64(capacity - tokens) {
                tokens = capacity
                filledAt = now
            } else {
                tokens += Int(tokensMade)
                // What is a part of a token stays to be counted.
                filledAt += tokensMade * 1_000_000_000 / UInt64(perSecond)
            }
        }
        return tokens
    }

    mutating func take(_ count: Int) {
        tokens -= count
    }

    /// When there will be so many.
    func time(of count: Int) -> UInt64 {
        filledAt &+ UInt64(max(count - tokens, 0)) * 1_000_000_000 / UInt64(perSecond) &+ 1
    }
}
