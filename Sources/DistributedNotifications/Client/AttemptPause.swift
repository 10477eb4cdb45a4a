/// How long a center waits between attempts to connect, whatever is posted meanwhile.
struct AttemptPause: Sendable {
    static let shortest = Duration.milliseconds(50)
    static let longest = Duration.seconds(5)

    private let first: Duration
    private(set) var next: Duration

    init(first: Duration = shortest) {
        self.first = first
        next = first
    }

    /// - Returns: how long to wait now; twice as long the next time.
    mutating func take() -> Duration {
        defer { next = min(next * 2, max(Self.longest, first)) }
        return next
    }

    /// An attempt was good.
    mutating func reset() {
        next = first
    }
}
