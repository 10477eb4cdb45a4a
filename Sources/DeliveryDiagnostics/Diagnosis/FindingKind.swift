internal import DeliveryRecording

extension Finding {
    /// What a finding is about. Each detector's file declares its own.
    struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// In JSON, in files of accepted findings and in rules, such as `no wrongThread`.
        let name: String
        /// For `diagnose --kinds`.
        let meaning: String
        /// The limits that decide whether it is a finding, or how severe it is.
        let limits: [DiagnosisLimits.Option]

        init(_ name: String, _ meaning: String, limits: DiagnosisLimits.Option...) {
            (self.name, self.meaning, self.limits) = (name, meaning, limits)
        }

        /// A rule of `check` that does not hold.
        static let rule = Kind("rule", "a rule of 'check' does not hold")

        /// The kinds that `diagnose` finds, worst first.
        static let all = Detector.all.reduce(into: [Kind]()) { kinds, detector in
            if !kinds.contains(detector.kind) { kinds.append(detector.kind) }
        }

        /// The names of earlier versions, which are still understood.
        static let formerNames = [
            "removedTwice", "severalThreads", "overtakesByPolicy", "neverStarted", "nameNeverPosted",
            "postedUnobserved", "mainHeldUp", "lostRecords", "recordingTruncated", "unrecorded",
        ]

        /// Nil if a file or a rule may name the kind; otherwise what to do.
        static func problem(withName name: String) -> String? {
            let names = all.map(\.name) + formerNames
            if names.contains(name) { return nil }
            let nearest = Suggestion.nearest(to: name, among: names).map { " Did you mean \($0)?" } ?? ""
            return "\"\(Excerpt.of(name))\" is not a kind of finding.\(nearest) "
                + "'notify-demo diagnose --kinds' lists them."
        }

        static func == (one: Kind, other: Kind) -> Bool { one.name == other.name }

        func hash(into hasher: inout Hasher) { hasher.combine(name) }

        var description: String { name }
    }
}
