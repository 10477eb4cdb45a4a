/// The answer of one side to a question.
package struct Answer: Sendable, Hashable, Encodable {
    /// True if the claim is kept.
    var isKept: Bool
    /// The observed events, and the end of the process if it was not normal.
    var observed: String
    /// The events of a side that keeps the claim.
    var expected: String

    private enum CodingKeys: String, CodingKey {
        case isKept = "kept"
        case observed, expected
    }
}
