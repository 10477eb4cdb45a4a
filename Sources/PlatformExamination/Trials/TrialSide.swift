/// The side that a question is put to.
package enum TrialSide: String, Sendable, Hashable, CaseIterable {
    /// This platform's Foundation.
    case foundation
    /// This package.
    case ours
}
