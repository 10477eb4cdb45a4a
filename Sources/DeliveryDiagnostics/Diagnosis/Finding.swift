/// A problem or note that a recording shows: problem, evidence, remedy.
struct Finding: Sendable, Hashable {
    /// The kinds, most severe first.
    enum Kind: String, Sendable, Hashable, CaseIterable {
        case refusedWait
        case unaccounted
        case handlerNeverReturned
        case stalled
        case longWait
        case queueBlocksPoster
        case wrongThread
        case deliveredAfterRemoval
        case removedTwice
        case anyNameObserver
        case waitTimedOut
        case neverStarted
        case severalThreads
        case overtaken
        case selfPosting
        case flood
        case targetGone
        case removedBeforePost
        case enqueuedNeverPosted
        case neverDelivered
        case backlog
        case nameNeverPosted
        case postedUnobserved
        case mainHeldUp
        case endedInHandler
        case lostRecords
        case recordingTruncated
        case unrecorded
        case waitsBothWays
        case dropped
        case onPostingThread
        case overtakesByPolicy
        case neverRemoved
        case fork
    }

    enum Severity: String, Sendable, Hashable {
        /// Almost certainly not what the author of the program intended.
        case problem
        case note
    }

    var kind: Kind
    var severity: Severity
    var problem: String
    /// Indices of entries; -1 is left out. The first three are shown.
    var evidence: [Int32]
    /// More evidence, one line each.
    var details: [String] = []
    var remedy: String
    /// How often or how severe. Findings of a kind are sorted by it, largest first.
    var weight: Int
    /// Index in the recording's strings of the notification's name; -1 if it concerns none.
    var name: Int32 = -1
    /// Index in the recording's threads of the thread that causes the problem; -1 if there is none.
    var thread: Int32 = -1
}

extension Finding: Comparable {
    static func < (one: Finding, other: Finding) -> Bool {
        if one.severity != other.severity { return one.severity == .problem }
        // A handler on another thread than main may be what matters most.
        if (one.kind == .wrongThread) != (other.kind == .wrongThread), one.severity == .note {
            return one.kind == .wrongThread
        }
        if one.kind != other.kind { return Kind.allCases.first { $0 == one.kind || $0 == other.kind } == one.kind }
        if one.weight != other.weight { return one.weight > other.weight }
        return one.evidence.lexicographicallyPrecedes(other.evidence)
    }
}
