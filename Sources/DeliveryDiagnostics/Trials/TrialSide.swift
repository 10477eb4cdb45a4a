/// Whom a question is asked of.
public enum TrialSide: String, Sendable, Hashable, CaseIterable {
    /// This platform's Foundation.
    case foundation
    /// This package.
    case ours
}
