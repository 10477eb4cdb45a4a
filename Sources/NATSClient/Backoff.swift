/// How long to wait before each attempt to connect: twice as long each time, with a random part, so that the clients of
/// a server that restarts do not return together. A new value after a success.
package struct Backoff: Sendable {
    private let longest: Duration
    private var step: Duration

    package init(first: Duration = .milliseconds(50), longest: Duration = .seconds(5)) {
        (step, self.longest) = (first, longest)
    }

    /// Between half of the current step and all of it.
    package mutating func next(using random: inout some RandomNumberGenerator) -> Duration {
        defer { step = min(step * 2, longest) }
        return step * Double.random(in: 0.5...1, using: &random)
    }
}
