/// Finds duplicates and losses in what one process receives, by the sequences of the posts.
package struct Continuity {
    package enum Finding: Equatable {
        /// A post that was not received before, after so many that were lost.
        case new(missing: Int)
        case duplicate
    }

    private struct Key: Hashable {
        var series: UInt64
        var post: NameAndObject
    }

    private var last: [Key: UInt64] = [:]
    /// Most posts have the series, the name and the object of the one before.
    private var current = (key: Key(series: 0, post: NameAndObject()), number: UInt64(0))
    /// Losses that were reported otherwise, and are to be found again as missing numbers.
    private var explained: UInt64 = 0

    package init() {}

    package mutating func receive(_ payload: PostedPayload) -> Finding {
        guard let sequence = payload.sequence else { return .new(missing: 0) }
        if current.key.series != sequence.series || !current.key.post.isEqual(payload.name, payload.object) {
            remember()
            let key = Key(series: sequence.series, post: NameAndObject(name: payload.name, object: payload.object))
            current = (key, last[key] ?? 0)
        }
        let before = current.number
        guard sequence.number > before else { return .duplicate }
        current.number = sequence.number
        // What was posted before the first one that is received is not known to be for this process.
        guard before > 0 else { return .new(missing: 0) }
        let skipped = sequence.number - before - 1
        let known = min(skipped, explained)
        explained -= known
        return .new(missing: Int(clamping: skipped - known))
    }

    private mutating func remember() {
        guard current.number > 0 else { return }
        if last.count >= Wire.sequenceLimit { last = [:] }
        last[current.key] = current.number
    }

    /// So many were lost, and this is already reported.
    package mutating func explain(_ count: Int) { explained += UInt64(clamping: count) }

    /// Posts may be skipped from now on, without being lost: begins anew.
    package mutating func restart() { self = Continuity() }
}
