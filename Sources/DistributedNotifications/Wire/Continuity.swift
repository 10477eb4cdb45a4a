/// Finds duplicates and losses in what one process receives, by the sequences of the posts.
package struct Continuity {
    package enum Finding: Equatable {
        /// A post that was not received before. So many before it were lost.
        case new(missing: Int)
        case duplicate
    }

    private struct Last {
        var number: UInt64
        /// The epoch in which it was received.
        var epoch: Int
    }

    private var last = SequenceTable<Last>()
    /// Begins when posts may have been skipped. In its first post, each name and object shows what was skipped before.
    private var epoch = 0
    /// Posts that were received before this epoch may be followed by any number.
    private var firstComparable = 0
    /// Losses since then that were reported otherwise, and will be found as skipped numbers again.
    private var explained: UInt64 = 0

    package init() {}

    package mutating func receive(_ payload: PostedPayload) -> Finding {
        guard let sequence = payload.sequence else { return .new(missing: 0) }
        if last.isFull { last = SequenceTable() }
        // Posts before the first one that is received may not be for this process.
        let place = last.place(sequence.series, payload.nameAndObject, initial: Last(number: 0, epoch: -1))
        let before = last.values[place]
        guard sequence.number > before.number else { return .duplicate }
        last.values[place] = Last(number: sequence.number, epoch: epoch)
        guard before.epoch >= firstComparable else { return .new(missing: 0) }
        var missing = sequence.number - before.number - 1
        if before.epoch < epoch {
            let known = min(missing, explained)
            (missing, explained) = (missing - known, explained - known)
        }
        return .new(missing: Int(UInt32(clamping: missing)))
    }

    /// So many were lost, and this is already reported.
    package mutating func explain(_ count: Int) {
        epoch += 1
        explained &+= UInt64(clamping: count)
    }

    /// Posts may have been skipped without being lost. Duplicates are found nevertheless.
    package mutating func restart() {
        epoch += 1
        (firstComparable, explained) = (epoch, 0)
    }
}
