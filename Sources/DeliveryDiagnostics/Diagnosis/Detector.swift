internal import DeliveryRecording
internal import TerminalText

/// A kind of finding, and what looks for it in a recording.
///
/// A new detector is a file in `Detectors`, a line in `all`, and a test.
struct Detector: Sendable, Hashable, CustomStringConvertible {
    /// In JSON, in files of accepted findings and in rules, such as `no wrongThread`.
    let name: String
    /// For `diagnose --kinds`.
    let meaning: String
    /// Names of earlier versions that are a part of it now. Files of accepted findings and rules may still name them.
    let formerNames: [String]
    /// The limits that decide whether it is a finding, or how severe it is.
    let limits: [DiagnosisLimits.Option]
    private let find: @Sendable (Evidence) -> [Finding]

    init(
        _ name: String, _ meaning: String, formerly formerNames: [String] = [],
        limits: DiagnosisLimits.Option...,
        find: @escaping @Sendable (Evidence) -> [Finding]
    ) {
        (self.name, self.meaning, self.formerNames, self.limits) = (name, meaning, formerNames, limits)
        self.find = find
    }

    func run(_ evidence: Evidence) -> [Finding] {
        find(evidence).map { finding in
            var finding = finding
            finding.kind = self
            return finding
        }
    }

    /// Worst first.
    static let all: [Detector] = [
        .refusedWait, .unaccounted, .handlerNeverReturned, .stalled, .longWait, .queueBlocksPoster,
        .wrongThread,
        .deliveredAfterRemoval, .anyNameObserver, .waitTimedOut, .overtaken, .selfPosting, .flood,
        .targetGone,
        .removedBeforePost, .enqueuedNeverPosted, .neverDelivered, .backlog, .unmatchedName,
        .endedInHandler,
        .incomplete, .waitsBothWays, .dropped, .onPostingThread, .neverRemoved, .fork,
    ]

    /// A rule of `check` that does not hold.
    static let rule = Detector("rule", "a rule of 'check' does not hold") { _ in [] }

    /// What files of accepted findings and rules may name.
    static let names = all.map(\.name) + all.flatMap(\.formerNames)

    /// Nil if a file or a rule may name the kind; otherwise what to do.
    static func problem(withName name: String) -> String? {
        if names.contains(name) { return nil }
        let nearest = Suggestion.nearest(to: name, among: names).map { " Did you mean \($0)?" } ?? ""
        return
            "\"\(Excerpt.of(name))\" is not a kind of finding.\(nearest) 'notify-demo diagnose --kinds' lists them."
    }

    static func == (one: Detector, other: Detector) -> Bool { one.name == other.name }

    func hash(into hasher: inout Hasher) { hasher.combine(name) }

    var description: String { name }
}
