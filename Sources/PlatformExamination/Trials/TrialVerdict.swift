/// The verdict on a promise.
package enum TrialVerdict: Sendable, Hashable {
    case kept
    /// Broken, with what happened instead.
    case broken(String)
}

extension TrialVerdict: CustomStringConvertible {
    package var description: String {
        switch self {
        case .kept: "kept"
        case .broken(let instead): instead
        }
    }
}
