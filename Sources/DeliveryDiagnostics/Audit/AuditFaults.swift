/// An inconsistency: a post must have exactly one outcome for each observer that it matches.
struct AuditFault: Sendable, Hashable {
    enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A post matched more observers than have records.
        case lost
        /// It was waiting for a thread when the thread ended, and has no outcome.
        case lostAtThreadEnd
        case twoOutcomes
        case outcomeAfterSkip
        /// A post matched fewer observers than have records.
        case tooMany
        /// It has an outcome, but no post.
        case withoutPost
        /// It was delivered on another thread than the posting thread, without a record of the handover.
        case notHandedOver
        /// The library's own counters differ from the records.
        case miscounted
        case returnWithoutDeliver

        /// True if the fault is certain even if records are missing.
        var isCertainIfTruncated: Bool { [.twoOutcomes, .outcomeAfterSkip, .tooMany].contains(self) }
    }

    var kind: Kind
    /// Index of the entry that shows the fault.
    var entry: Int32
    var text: String
}

/// The number of faults, and descriptions of the first ones.
struct AuditFaults: Sendable {
    static let maximumReported = 100

    private(set) var count = 0
    private(set) var countByKind: [AuditFault.Kind: Int] = [:]
    /// The first fault of each kind comes first.
    var reported: [AuditFault] { firsts + others }
    private var firsts: [AuditFault] = []
    private var others: [AuditFault] = []

    mutating func note(_ kind: AuditFault.Kind, _ fault: () -> AuditFault) {
        count += 1
        countByKind[kind, default: 0] += 1
        if countByKind[kind] == 1 {
            firsts.append(fault())
        } else if firsts.count + others.count < Self.maximumReported {
            others.append(fault())
        }
    }
}
