/// The pauses between attempts to connect. Each is twice as long as the last.
struct AttemptPause: Sendable {
    static let shortest = Duration.milliseconds(50)
    static let longest = Duration.seconds(5)

    private let first: Duration
    private(set) var next: Duration

    init(first: Duration = shortest) {
        self.first = first
        next = first
    }

    /// - Returns: the pause to make now.
    mutating func take() -> Duration {
        defer { next = min(next * 2, max(Self.longest, first)) }
        return next
    }

    /// Begins again with the first pause, after a success.
    mutating func reset() {
        next = first
    }
}
