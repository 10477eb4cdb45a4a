/// A claim about records, with the reason if it does not hold.
package struct Expectation: Sendable, Hashable {
    /// The claim as a clause without a full stop.
    package var claim: String
    /// Nil if the claim holds, otherwise what is true instead.
    package var failure: String?

    package var holds: Bool { failure == nil }

    /// A claim that does not hold, for a caller that could not check it.
    package static func failed(_ claim: String, because failure: String) -> Expectation {
        Expectation(claim, failure: failure)
    }

    init(_ claim: String, failure: String?) {
        self.claim = claim
        self.failure = failure
    }

    /// - Parameter otherwise: what is true instead; evaluated only if the claim does not hold.
    init(_ claim: String, holds: Bool, otherwise: @autoclosure () -> String) {
        self.init(claim, failure: holds ? nil : otherwise())
    }
}
