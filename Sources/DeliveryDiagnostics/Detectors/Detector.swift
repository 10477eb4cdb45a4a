internal import TerminalText

extension Finding {
    /// Each kind and its meaning, for `diagnose --kinds`.
    enum Kind: String, Sendable, CaseIterable {
        case refusedWait = "a wait was refused because it would have deadlocked"
        case unaccounted = "a post has no outcome for an observer, or two: a bug of the library"
        case handlerNeverReturned =
            "a handler ran until the recording ended, and its thread recorded nothing else"
        case stalled = "a thread stopped draining, or a handler occupied the main thread for too long"
        case longWait = "a thread waits for another, or waited for too long"
        case queueBlocksPoster = "a post to a Foundation center waited for an operation queue"
        case wrongThread = "a handler ran on another thread than its observer's, or on several"
        case deliveredAfterRemoval =
            "a handler began after its observer was removed, or an observer was removed twice"
        case anyNameObserver = "a post to a center with an observer of any name ended the process"
        case waitTimedOut = "a wait lasted for its timeout"
        case overtaken = "an observer received one thread's posts in another order"
        case selfPosting = "a handler causes its own next call, again and again"
        case flood = "a thread receives more notifications than it handles"
        case targetGone = "notifications or blocks were for a thread that had ended or was never started"
        case removedBeforePost = "an observer was removed before its name was posted without an observer"
        case enqueuedNeverPosted = "a posting queue never posted a notification"
        case neverDelivered = "an observer never received what was posted while it observed"
        case backlog = "notifications or blocks still wait when the recording ends"
        case unmatchedName = "a name is observed and not posted, or posted without an observer"
        case endedInHandler = "a signal ended the process while a handler ran"
        case incomplete = "records are missing, or something could not be recorded"
        case waitsBothWays = "two threads wait for each other, although not at the same time in this run"
        case dropped = "an observer's overflow policy dropped notifications"
        case onPostingThread = "handlers ran only on a thread that did not add the observer, because it posted"
        case neverRemoved = "observers are added at one source location again and again, and never removed"
        case fork = "the process forked"
        case rule = "a rule of 'check' does not hold"

        static let all = allCases.filter { $0 != .rule }

        /// The names of earlier versions. Files of accepted findings and rules may still have them.
        static let formerNames: [String: Kind] = [
            "removedTwice": .deliveredAfterRemoval, "severalThreads": .wrongThread, "overtakesByPolicy": .overtaken,
            "neverStarted": .targetGone, "nameNeverPosted": .unmatchedName, "postedUnobserved": .unmatchedName,
            "mainHeldUp": .stalled, "lostRecords": .incomplete, "recordingTruncated": .incomplete,
            "unrecorded": .incomplete,
        ]

        /// In JSON, in files of accepted findings and in rules, such as `no wrongThread`.
        var name: String { "\(self)" }
    }
}

/// What looks for findings of a kind in a recording.
///
/// A new detector is a property of `Evidence` in a file of `Detectors`, a line in `all`, the meaning of its kind, and a
/// test.
struct Detector: Sendable {
    let kind: Finding.Kind
    let find: @Sendable (Evidence) -> [Finding]
    /// The limits that decide whether it is a finding, or how severe it is.
    let limits: [DiagnosisLimits.Option]

    private init(
        _ kind: Finding.Kind, _ find: @escaping @Sendable (Evidence) -> [Finding], limits: DiagnosisLimits.Option...
    ) {
        (self.kind, self.find, self.limits) = (kind, find, limits)
    }

    /// Worst first.
    static let all: [Detector] = [
        Detector(.refusedWait, \.refusedWaits),
        Detector(.unaccounted, \.unaccounted),
        Detector(.handlerNeverReturned, \.handlersThatNeverReturned, limits: .stall),
        Detector(.stalled, \.stoppedThreads, limits: .stall),
        Detector(.longWait, \.longWaits, limits: .stall),
        Detector(.queueBlocksPoster, \.queuesThatBlockPosters, limits: .mainBudget, .stall),
        Detector(.wrongThread, \.handledElsewhere),
        Detector(.deliveredAfterRemoval, \.deliveredAfterRemoval),
        Detector(.deliveredAfterRemoval, \.removedTwice),
        Detector(.anyNameObserver, \.anyNameObservers),
        Detector(.waitTimedOut, \.timedOutWaits),
        Detector(.overtaken, \.overtaken),
        Detector(.selfPosting, \.selfPosting, limits: .chain),
        Detector(.flood, \.floods, limits: .depth),
        Detector(.targetGone, \.targetsGone),
        Detector(.removedBeforePost, \.removedBeforePost),
        Detector(.enqueuedNeverPosted, \.enqueuedNeverPosted, limits: .stall),
        Detector(.neverDelivered, \.neverDelivered),
        Detector(.backlog, \.backlog),
        Detector(.unmatchedName, \.neverPosted),
        Detector(.unmatchedName, \.postedUnobserved),
        Detector(.endedInHandler, \.endedInHandlers),
        Detector(.stalled, \.longHandlersOnMain, limits: .mainBudget),
        Detector(.incomplete, \.incomplete),
        Detector(.waitsBothWays, \.waitsBothWays),
        Detector(.dropped, \.dropped),
        Detector(.onPostingThread, \.handledOnAnotherThread),
        Detector(.neverRemoved, \.neverRemoved),
        Detector(.fork, \.forks),
    ]

    /// What files of accepted findings and rules may name.
    static let names = Finding.Kind.all.map(\.name) + Finding.Kind.formerNames.keys.sorted()

    /// Nil if a file or a rule may name the kind; otherwise what to do.
    static func problem(withName name: String) -> String? {
        if names.contains(name) { return nil }
        let nearest = Suggestion.nearest(to: name, among: names).map { " Did you mean \($0)?" } ?? ""
        return "\"\(Excerpt.of(name))\" is not a kind of finding.\(nearest) 'notify-demo diagnose --kinds' lists them."
    }
}
