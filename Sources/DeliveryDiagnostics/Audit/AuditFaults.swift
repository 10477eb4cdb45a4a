/// Something that cannot be, if each post meets one fate for each observer that it matches.
struct AuditFault: Sendable, Hashable {
    enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A post matched more observers than records tell of.
        case lost
        /// It waited for a thread that ended, and met no fate.
        case lostAtThreadEnd
        case twoFates
        case fateAfterSkip
        /// It matched fewer observers than records tell of.
        case tooMany
        /// Something becomes of it, and nobody posted it.
        case withoutPost
        /// It was delivered on another thread than posted, and is not known to have been handed over.
        case notHandedOver
        /// The library's own counts are others.
        case miscounted
        case returnWithoutDeliver

        /// Whether it cannot be because records are missing.
        var isSureInPart: Bool {
            switch self {
            case .twoFates, .fateAfterSkip, .tooMany: true
            case .lost, .lostAtThreadEnd, .withoutPost, .notHandedOver, .miscounted, .returnWithoutDeliver: false
            }
        }
    }

    var kind: Kind
    /// In the recording's posts, or -1.
    var post: Int32
    /// The entry that shows it, or -1.
    var place: Int32
    var text: String
}

/// What does not add up: how often, and the first of it in words.
struct AuditFaults: Sendable {
    static let mostTold = 100

    private(set) var count = 0
    private(set) var countByKind: [AuditFault.Kind: Int] = [:]
    private(set) var told: [AuditFault] = []

    mutating func note(_ kind: AuditFault.Kind, post: Int32, place: Int32, _ text: () -> String) {
        count += 1
        countByKind[kind, default: 0] += 1
        guard told.count < Self.mostTold else { return }
        told.append(AuditFault(kind: kind, post: post, place: place, text: text()))
    }
}
