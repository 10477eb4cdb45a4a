internal import DeliveryRecording

/// Looks for findings of one kind in a recording.
///
/// A new detector is a file in `Detectors`, which declares its kind, a line in `all`, and a test.
struct Detector: Sendable {
    let kind: Finding.Kind
    /// A kind of earlier versions, which files of accepted findings and rules may still name.
    private let formerKind: String?
    private let find: @Sendable (Evidence) -> [Finding]

    init(_ kind: Finding.Kind, formerly: String? = nil, _ find: @escaping @Sendable (Evidence) -> [Finding]) {
        (self.kind, formerKind, self.find) = (kind, formerly, find)
    }

    func run(_ evidence: Evidence) -> [Finding] {
        find(evidence).map { finding in
            var finding = finding
            finding.kind = kind
            finding.formerKind = finding.formerKind ?? formerKind
            return finding
        }
    }

    /// Worst first.
    static let all = [
        Detector(.refusedWait, RefusedWait.findings),
        Detector(.unaccounted, Unaccounted.findings),
        Detector(.handlerNeverReturned, HandlerNeverReturned.findings),
        Detector(.stalled, Stall.findings),
        Detector(.longWait, LongWait.findings),
        Detector(.queueBlocksPoster, QueueBlocksPoster.findings),
        Detector(.wrongThread, WrongThread.findings),
        Detector(.deliveredAfterRemoval, DeliveredAfterRemoval.findings),
        Detector(.deliveredAfterRemoval, formerly: "removedTwice", RemovedTwice.findings),
        Detector(.anyNameObserver, AnyNameObserver.findings),
        Detector(.waitTimedOut, WaitTimedOut.findings),
        Detector(.wrongThread, formerly: "severalThreads") { SeveralThreads.findings($0, isSeveral: true) },
        Detector(.overtaken, Overtaking.findings),
        Detector(.selfPosting, SelfPosting.findings),
        Detector(.flood, Flood.findings),
        Detector(.targetGone, TargetGone.findings),
        Detector(.removedBeforePost, RemovedBeforePost.findings),
        Detector(.enqueuedNeverPosted, EnqueuedNeverPosted.findings),
        Detector(.neverDelivered, NeverDelivered.findings),
        Detector(.backlog, Backlog.findings),
        Detector(.unmatchedName, formerly: "nameNeverPosted", NameNeverPosted.findings),
        Detector(.unmatchedName, formerly: "postedUnobserved", PostedUnobserved.findings),
        Detector(.stalled, formerly: "mainHeldUp", MainHeldUp.findings),
        Detector(.endedInHandler, EndedInHandler.findings),
        Detector(.incomplete, Incomplete.findings),
        Detector(.waitsBothWays, WaitsBothWays.findings),
        Detector(.dropped, DroppedByPolicy.findings),
        Detector(.onPostingThread) { SeveralThreads.findings($0, isSeveral: false) },
        Detector(.neverRemoved, NeverRemoved.findings),
        Detector(.fork, Fork.findings),
    ]
}
