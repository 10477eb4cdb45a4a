internal import DeliveryRecording

/// An inconsistency of one kind: its first record, and how often it occurs.
struct Fault: Sendable {
    enum Kind: Sendable {
        case lost, lostAtThreadEnd, twoOutcomes, outcomeAfterSkip, tooMany, withoutPost, notHandedOver
        case returnWithoutDeliver
    }

    let kind: Kind
    /// False if missing records could explain it.
    let isCertain: Bool
    let entry: Int32
    let text: String
    var count = 1
}

/// What does not add up: a post must have exactly one outcome for each observer that it matches (guarantee 14).
extension Evidence {
    var unaccounted: [Finding] {
        faults.filter(\.isCertain).map { fault in
            let entry = index.entry(fault.entry)
            return Finding(
                problem: "Not accounted for, \(words.times(fault.count)): \(fault.text).",
                evidence: [words.posted(entry), fault.entry],
                remedy: "This is a bug of the library. Report it with the recording, and with the output of "
                    + "'notify-demo stats --by observer'.", weight: fault.count,
                name: entry.post < 0 ? -1 : index.name(ofPost: entry.post))
        }
    }

    /// - Parameter includes: see `Accounts`.
    static func faults(_ words: RecordWords, _ accounts: Accounts, includes: (Int32) -> Bool) -> [Fault] {
        let index = words.index
        var faults: [Fault] = []
        /// The entry shows the fault, and the text says what its post has.
        func note(_ kind: Fault.Kind, _ number: Int32, _ text: @autoclosure () -> String) {
            let entry = index.entry(number)
            let isCertain =
                [.twoOutcomes, .outcomeAfterSkip, .tooMany].contains(kind)
                || index.recording.completeness[index.recording.process(of: entry)].isComplete
            if let known = faults.firstIndex(where: { $0.kind == kind && $0.isCertain == isCertain }) {
                faults[known].count += 1
                return
            }
            let post = entry.post < 0 ? "" : "\(words.post(entry.post)) "
            faults.append(Fault(kind: kind, isCertain: isCertain, entry: number, text: post + text()))
        }
        for delivery in index.deliveries where includes(index.record(of: delivery)) {
            var observer: String { words.forObserver(delivery) }
            let (outcome, second, skip) = (delivery.outcome, delivery.secondOutcome, delivery.skip)
            if second >= 0 {
                note(
                    .twoOutcomes, second,
                    "has two outcomes\(observer): \(words.record(outcome)), then \(words.record(second))")
            }
            if outcome >= 0, skip >= 0 {
                note(
                    .outcomeAfterSkip, outcome,
                    "was skipped\(observer) (\(words.record(skip))) but has an outcome: \(words.record(outcome))")
            }
            if delivery.isPending, index.targetHasEnded(delivery) {
                let target = index.target(of: delivery)
                note(
                    .lostAtThreadEnd, delivery.append,
                    "was handed to \(words.thread(target))\(observer); the thread ended "
                        + "(\(words.record(index.threads[Int(target)].end))), and no outcome was recorded")
            }
            let posted = index.posts[Int(delivery.post)].posted
            if !delivery.isBlock, posted < 0 {
                note(
                    .withoutPost, delivery.first,
                    "has a record\(observer) (\(words.record(delivery.first))), but its post was not recorded")
            } else if delivery.observer >= 0, delivery.append < 0, outcome >= 0,
                case let entry = index.entry(outcome), entry.stage == .deliver, !entry.isFoundation,
                entry.thread != index.entry(posted).thread
            {
                note(
                    .notHandedOver, outcome,
                    "was delivered\(observer) on another thread (\(words.record(outcome))), but no append was recorded")
            }
        }
        for delivery in accounts.passedOver.sorted().map({ index.deliveries[Int($0)] }) {
            note(
                .lost, delivery.append,
                "was handed over\(words.forObserver(delivery)) and never delivered, although a later notification of "
                    + "the same thread was")
        }
        for (post, missing, observers) in accounts.mismatched {
            note(
                missing > 0 ? .lost : .tooMany, index.posts[Int(post)].posted, words.mismatch(post, missing, observers))
        }
        for post in index.posts where post.secondQueueOutcome >= 0 && includes(post.enqueued) {
            note(
                .twoOutcomes, post.secondQueueOutcome,
                "has two outcomes in its posting queue: "
                    + "\(words.record(post.queueOutcome)), then \(words.record(post.secondQueueOutcome))")
        }
        for number in index.strayReturns where includes(number) {
            note(
                .returnWithoutDeliver, number,
                "lacks a record: a handler returned, but its call was not recorded: \(words.record(number))")
        }
        for number in index.strayQueueOutcomes where includes(number) {
            note(
                .withoutPost, number, "left a posting queue (\(words.record(number))), but its enqueue was not recorded"
            )
        }
        return faults
    }
}

extension RecordWords {
    /// For example `matched 2 observers, but only 1 has records: none for observer 2`.
    func mismatch(_ post: Int32, _ missing: Int, _ observers: [Int32]) -> String {
        let recorded = Int(index.posts[Int(post)].deliveryCount)
        let matched = "matched \(counted(Int(index.entry(index.posts[Int(post)].posted).count), "observer")), but"
        guard missing > 0 else { return "\(matched) \(recorded) have records" }
        let missed = observers.map(recording.describeObserver).joined(separator: " and ")
        return "\(matched) \(recorded == 0 ? "none" : "only \(recorded)") \(recorded < 2 ? "has" : "have") records"
            + (missed.isEmpty ? "" : ": none for \(missed)")
    }
}
