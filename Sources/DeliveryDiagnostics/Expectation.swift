/// A claim about records, and whether it holds.
public struct Expectation: Sendable, Hashable {
    /// What should be so, as a sentence without its end.
    public var claim: String
    /// Nil if the claim holds, else what is so instead.
    public var failure: String?

    public var holds: Bool { failure == nil }

    /// A claim that does not hold, for a caller that could not even ask.
    public static func failed(_ claim: String, because failure: String) -> Expectation {
        Expectation(claim, failure: failure)
    }

    init(_ claim: String, failure: String?) {
        self.claim = claim
        self.failure = failure
    }

    /// - Parameter otherwise: what is so instead; asked for only then.
    init(_ claim: String, holds: Bool, otherwise: @autoclosure () -> String) {
        self.init(claim, failure: holds ? nil : otherwise())
    }
}
