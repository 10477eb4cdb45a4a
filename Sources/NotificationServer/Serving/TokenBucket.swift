/// The posts that one process may make now. Times are the monotonic clock's, in nanoseconds.
struct TokenBucket {
    private var tokens: Double
    private let capacity: Double
    private let perNanosecond: Double
    private var filledAt: UInt64

    init(_ limits: ServerLimits, now: UInt64) {
        capacity = Double(limits.postsAtOnce)
        perNanosecond = Double(limits.postsPerSecond) / 1e9
        tokens = capacity
        filledAt = now
    }

    var isEmpty: Bool { tokens < 1 }

    mutating func take() { tokens -= 1 }

    mutating func fill(now: UInt64) {
        tokens = min(capacity, tokens + Double(now &- filledAt) * perNanosecond)
        filledAt = now
    }

    /// When there will be `count` tokens.
    func time(of count: Int) -> UInt64 {
        filledAt &+ UInt64(min(max(Double(count) - tokens, 0) / perNanosecond, 1e18)) &+ 1
    }
}
