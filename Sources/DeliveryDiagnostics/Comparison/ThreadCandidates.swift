internal import DeliveryRecording

/// The threads of the second run that may match one of the first: those of the same colour first, each in order of
/// first appearance.
struct ThreadCandidates {
    private let colours: ThreadColours
    private let keys: ([Int32], [Int32])
    private var byColour: [UInt64: [Int32]] = [:]
    private var byKey: [Int32: [Int32]] = [:]
    /// For each colour: the number of leading threads that are already matched. Skipping them keeps the search fast
    /// with many threads.
    final class FirstFree {
        fileprivate var counts: [UInt64: Int] = [:]
    }

    /// True if only threads of the same colour may match. Not so if the runs are known to differ.
    let isStrict: Bool

    init(_ one: ComparedRun, _ other: ComparedRun, colours: ThreadColours) {
        self.colours = colours
        isStrict = colours.areEqual
        keys = (one.threadKeys, other.threadKeys)
        var seen = Array(repeating: false, count: other.threadKeys.count)
        for (index, entry) in other.recording.entries.enumerated() where other.chains.chainOfEntry[index] >= 0 {
            let thread = Int(other.chains.thread[Int(other.chains.chainOfEntry[index])])
            guard !seen[thread] else { continue }
            seen[thread] = true
            byColour[colours.second[thread], default: []].append(entry.thread)
            byKey[other.threadKeys[thread], default: []].append(entry.thread)
        }
    }

    /// All candidates of a thread's colour.
    func withColour(of one: Int32) -> [Int32] { byColour[colours.first[Int(one)]] ?? [] }

    func mayMatch(_ one: Int32, _ other: Int32) -> Bool {
        keys.0[Int(one)] == keys.1[Int(other)]
            && (!isStrict || colours.first[Int(one)] == colours.second[Int(other)])
    }

    /// The suitable candidate after skipping some, and whether there is another one.
    func candidate(
        for one: Int32, after skipped: Int, firstFree: FirstFree, isFree: (Int32) -> Bool,
        isSuitable: (Int32) -> Bool
    ) -> (thread: Int32, hasMore: Bool)? {
        let colour = colours.first[Int(one)]
        let sameColour = byColour[colour] ?? []
        var start = firstFree.counts[colour, default: 0]
        while start < sameColour.count, !isFree(sameColour[start]) { start += 1 }
        firstFree.counts[colour] = start
        var found: Int32?
        var skipped = skipped
        for thread in sameColour[start...] where isFree(thread) && isSuitable(thread) {
            if let found { return (found, true) }
            if skipped == 0 { found = thread } else { skipped -= 1 }
        }
        guard !isStrict else { return found.map { ($0, false) } }
        for thread in byKey[keys.0[Int(one)]] ?? []
        where colours.second[Int(thread)] != colour && isFree(thread) && isSuitable(thread) {
            if let found { return (found, true) }
            if skipped == 0 { found = thread } else { skipped -= 1 }
        }
        return found.map { ($0, false) }
    }
}
