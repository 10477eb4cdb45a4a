/// Whether a promise is kept.
public enum TrialVerdict: Sendable, Hashable {
    case kept
    /// What happens instead.
    case broken(String)
}

extension TrialVerdict: CustomStringConvertible {
    public var description: String {
        switch self {
        case .kept: "kept"
        case .broken(let instead): instead
        }
    }
}
