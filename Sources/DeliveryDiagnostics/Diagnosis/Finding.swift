/// Something that a recording shows to be wrong, or worth knowing: problem, evidence, remedy.
struct Finding: Sendable, Hashable {
    /// In the order in which they are told, worst first.
    enum Kind: String, Sendable, Hashable, CaseIterable {
        case refusedWait
        case unaccounted
        case handlerNeverReturned
        case stalled
        case wrongThread
        case deliveredAfterRemoval
        case overtaken
        case selfPosting
        case flood
        case targetGone
        case removedAtOnce
        case neverDelivered
        case nameNeverPosted
        case postedUnobserved
        case mainHeldUp
        case backlog
        case endedInHandler
        case lostRecords
        case recordingCut
        case waitsBothWays
        case dropped
        case overtakesByPolicy
        case fork
    }

    enum Severity: String, Sendable, Hashable {
        /// The program does what its author can hardly have meant.
        case problem
        case note
    }

    var kind: Kind
    var severity: Severity
    /// What is wrong, in a sentence.
    var problem: String
    /// Places of entries, in the order in which they are shown. At most three are.
    var evidence: [Int32]
    /// What else shows it, in lines of their own.
    var details: [String] = []
    /// What to do.
    var remedy: String
    /// How often, or how far: among those of a kind, the most first.
    var weight: Int
    /// The thread that is to blame, in the recording's threads; -1 if none is.
    var thread: Int32 = -1
}

extension Finding: Comparable {
    static func < (one: Finding, other: Finding) -> Bool {
        if one.severity != other.severity { return one.severity == .problem }
        let (rank, otherRank) = (one.kind.rank, other.kind.rank)
        if rank != otherRank { return rank < otherRank }
        if one.weight != other.weight { return one.weight > other.weight }
        return one.evidence.first ?? 0 < other.evidence.first ?? 0
    }
}

extension Finding.Kind {
    private static let ranks = Dictionary(uniqueKeysWithValues: allCases.enumerated().map { ($0.element, $0.offset) })

    fileprivate var rank: Int { Self.ranks[self] ?? 0 }
}
