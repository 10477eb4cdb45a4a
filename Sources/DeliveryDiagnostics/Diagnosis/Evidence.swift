internal import DeliveryRecording

/// What detectors look at: a recording's index, and the answers that several of them need.
struct Evidence: Sendable {
    let words: RecordWords
    let limits: DiagnosisLimits
    let accounts: Accounts
    let faults: [Fault]
    /// The number of posts, with those that no observer matched.
    let postCount: Int
    /// Of the whole recording, in the order of the index's observers.
    let matches: [Accounts.Account]
    /// For each thread that is in a handler when the recording ends: the innermost one.
    let running: [Int32: RecordingIndex.Span]

    /// - Parameter selection: the posts that the accounts are about; all, if it is nil.
    init(_ index: RecordingIndex, _ limits: DiagnosisLimits, _ selection: RecordingSelection? = nil) {
        words = RecordWords(index)
        self.limits = limits
        let posts = selection?.posts(of: index.recording)
        func includes(_ number: Int32) -> Bool {
            guard let posts, case let entry = index.entry(number) else { return true }
            return entry.post < 0 ? selection?.contains(entry) == true : posts[Int(entry.post)]
        }
        accounts = Accounts(index, includes: includes)
        faults = FaultSearch(words, accounts, includes: includes).faults
        postCount = index.posts.count {
            $0.posted >= 0 && index.isPost($0.posted) && includes($0.posted)
        }
        matches = (posts == nil ? accounts : Accounts(index)).ofObservers(index.observers.count)
        running = index.runningHandlers
    }

    var index: RecordingIndex { words.index }
    var histories: [NameHistory] { index.histories }
}
