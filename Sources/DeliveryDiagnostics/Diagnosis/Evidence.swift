internal import DeliveryRecording

/// What detectors look at: a recording's index, and the answers that several of them need.
struct Evidence: Sendable {
    let words: RecordWords
    let limits: DiagnosisLimits
    /// The posts and observers of each name.
    let histories: [NameHistory]
    /// In the order of the index's observers.
    let matches: [ObserverMatches]
    /// For each thread that is in a handler when the recording ends: the innermost one.
    let running: [Int32: RecordingIndex.Span]
    let audit: Audit

    init(_ index: RecordingIndex, _ limits: DiagnosisLimits, _ audit: Audit) {
        words = RecordWords(index)
        self.limits = limits
        (histories, matches) = (NameHistory.all(index), ObserverMatches.all(index))
        running = index.runningHandlers
        self.audit = audit
    }

    var index: RecordingIndex { words.index }
}
