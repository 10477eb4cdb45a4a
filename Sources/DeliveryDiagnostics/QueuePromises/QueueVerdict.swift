/// Whether a queue keeps a promise.
public enum QueueVerdict: Sendable, Hashable {
    case kept
    /// What happens instead.
    case broken(String)
}

extension QueueVerdict: CustomStringConvertible {
    public var description: String {
        switch self {
        case .kept: "kept"
        case .broken(let instead): instead
        }
    }
}
