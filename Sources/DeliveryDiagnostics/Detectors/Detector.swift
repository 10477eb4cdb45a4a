internal import TerminalText

/// What looks for findings of a kind in a recording: a property of `Evidence` and a line in `all`.
struct Detector: Sendable {
    /// In JSON, in files of accepted findings and in rules, such as `no wrongThread`.
    let kind: String
    /// With the option of its limit.
    let meaning: String
    let find: @Sendable (Evidence) -> [Finding]

    private init(_ kind: String, _ meaning: String, _ find: @escaping @Sendable (Evidence) -> [Finding]) {
        (self.kind, self.meaning, self.find) = (kind, meaning, find)
    }

    /// Worst first.
    static let all: [Detector] = [
        Detector("refusedWait", "a wait was refused because it would have deadlocked", \.refusedWaits),
        Detector("unaccounted", "a post has no outcome for an observer, or two: a bug of the library", \.unaccounted),
        Detector(
            "handlerNeverReturned", "a handler ran until the recording ended (--stall)", \.handlersThatNeverReturned),
        Detector("stalled", "a thread stopped draining (--stall)", \.stoppedThreads),
        Detector("longWait", "a thread waits for another, or waited for too long (--stall)", \.longWaits),
        Detector(
            "queueBlocksPoster", "a post to a Foundation center waited for a queue (--main-budget, --stall)",
            \.queuesThatBlockPosters),
        Detector(
            "wrongThread", "a handler ran on another thread than its observer's, or on several", \.handledElsewhere),
        Detector("deliveredAfterRemoval", "a handler began after its observer was removed", \.deliveredAfterRemoval),
        Detector("deliveredAfterRemoval", "an observer was removed twice", \.removedTwice),
        Detector("anyNameObserver", "a post to an observer of any name ended the process", \.anyNameObservers),
        Detector("waitTimedOut", "a wait lasted for its timeout", \.timedOutWaits),
        Detector("overtaken", "an observer received one thread's posts in another order", \.overtaken),
        Detector("selfPosting", "a handler causes its own next call, again and again (--chain)", \.selfPosting),
        Detector("flood", "a thread receives more notifications than it handles (--depth)", \.floods),
        Detector("targetGone", "something was for a thread that had ended or was never started", \.targetsGone),
        Detector("removedBeforePost", "an observer was removed before a post without one", \.removedBeforePost),
        Detector("enqueuedNeverPosted", "a queue never posted a notification (--stall)", \.enqueuedNeverPosted),
        Detector("neverDelivered", "an observer never received what was posted while it observed", \.neverDelivered),
        Detector("backlog", "notifications or blocks still wait when the recording ends", \.backlog),
        Detector("unmatchedName", "a name is observed and not posted", \.neverPosted),
        Detector("unmatchedName", "a name was posted before it had an observer", \.postedUnobserved),
        Detector("unmatchedName", "a name was posted to other processes, and none observes it", \.sentUnobserved),
        Detector("endedInHandler", "a signal ended the process while a handler ran", \.endedInHandlers),
        Detector("stalled", "a handler occupied the main thread for too long (--main-budget)", \.longHandlersOnMain),
        Detector("incomplete", "records are missing, or something could not be recorded", \.incomplete),
        Detector("waitsBothWays", "two threads wait for each other, although at different times", \.waitsBothWays),
        Detector("dropped", "an observer's overflow policy dropped notifications", \.dropped),
        Detector("onPostingThread", "handlers ran only on a thread that posted", \.handledOnAnotherThread),
        Detector("neverRemoved", "observers are added at one place again and again, and never removed", \.neverRemoved),
        Detector("fork", "the process forked", \.forks),
    ]

    /// The names of earlier versions. Files of accepted findings and rules may still have them.
    private static let formerNames = [
        "removedTwice": "deliveredAfterRemoval", "severalThreads": "wrongThread", "overtakesByPolicy": "overtaken",
        "neverStarted": "targetGone", "nameNeverPosted": "unmatchedName", "postedUnobserved": "unmatchedName",
        "mainHeldUp": "stalled", "lostRecords": "incomplete", "recordingTruncated": "incomplete",
        "unrecorded": "incomplete",
    ]

    /// The kind that a file or a rule names.
    static func kind(called name: String) -> String? { all.first { $0.kind == name }?.kind ?? formerNames[name] }

    /// What to do about a name that is not of a kind.
    static func problem(withKind name: String) -> String {
        let nearest = Suggestion.nearest(to: name, among: all.map(\.kind)).map { " Did you mean \($0)?" } ?? ""
        return "\"\(Excerpt.of(name))\" is not a kind of finding.\(nearest) 'notify-demo diagnose --kinds' lists them."
    }
}
