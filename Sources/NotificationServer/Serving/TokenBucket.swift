internal import DistributedNotifications

/// The number of posts that one process may make now. Times are the monotonic clock's, in nanoseconds.
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

    /// The number of tokens.
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
                // A part of a token is counted next time.
                filledAt += tokensMade * 1_000_000_000 / UInt64(perSecond)
            }
        }
        return tokens
    }

    mutating func take(_ count: Int) {
        tokens -= count
    }

    /// When there will be `count` tokens.
    func time(of count: Int) -> UInt64 {
        filledAt &+ UInt64(max(count - tokens, 0)) * 1_000_000_000 / UInt64(perSecond) &+ 1
    }
}
