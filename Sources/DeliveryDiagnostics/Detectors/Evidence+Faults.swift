internal import DeliveryRecording

/// What does not add up: a post must have exactly one outcome for each observer that it matches (guarantee 14).
extension Evidence {
    /// One finding for each sentence. What missing records could explain is none.
    var unaccounted: [Finding] {
        var faults: [(what: String, evidence: [Int32])] = []
        func note(_ what: String, _ number: Int32, isCertain: Bool = false, of observers: [Int32] = []) {
            let entry = index.entry(number)
            guard isCertain || recording.completeness[recording.process(of: entry)].isComplete else { return }
            faults.append((what, [words.posted(entry), number] + observers.map(words.registered)))
        }
        for (number, delivery) in index.deliveries.enumerated() {
            if delivery.secondOutcome >= 0 { note("a post has two outcomes", delivery.secondOutcome, isCertain: true) }
            if delivery.outcome >= 0, delivery.skip >= 0 {
                note("a post was skipped and has an outcome", delivery.outcome, isCertain: true)
            }
            if accounts.passedOver.contains(Int32(number)) || delivery.isPending && index.targetHasEnded(delivery) {
                note("a post has no outcome", delivery.append)
            }
            if !delivery.isBlock, index.posts[Int(delivery.post)].posted < 0 {
                note("a delivery has no post", delivery.first)
            }
        }
        for (post, missing, observers) in accounts.mismatched {
            let posted = index.posts[Int(post)].posted
            if missing > 0 { note("a post has no record for an observer", posted, of: observers) }
            if missing < 0 { note("a post has records of more observers than it matched", posted, isCertain: true) }
        }
        for post in index.posts where post.secondQueueOutcome >= 0 {
            note("a notification left its posting queue twice", post.secondQueueOutcome, isCertain: true)
        }
        for number in index.strayReturns { note("a handler returned that was not called", number) }
        for number in index.strayQueueOutcomes {
            note("a notification left a posting queue that it was not in", number)
        }
        return faults.grouped(by: \.what).map { faults in
            Finding(
                problem: "Not accounted for, \(words.times(faults.count)): \(faults[0].what).",
                evidence: faults[0].evidence,
                remedy: "This is a bug of the library. Report it with the recording.", weight: faults.count)
        }
    }
}
