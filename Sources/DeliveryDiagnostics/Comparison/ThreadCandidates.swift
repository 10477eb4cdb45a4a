/// Which threads of the second run one of the first may stand for: those of the same colour first, each by first appearance.
struct ThreadCandidates {
    private let colours: ThreadColours
    private let keys: ([Int32], [Int32])
    private var byColour: [UInt64: [Int32]] = [:]
    private var byKey: [Int32: [Int32]] = [:]
    /// How many of each colour's threads are free no more, from the first on: it would take long to look at all of many
    /// threads each time.
    final class FirstFree {
        fileprivate var places: [UInt64: Int] = [:]
    }

    /// Whether only threads of the same colour may stand for each other. If the runs differ for certain there may be none.
    let isStrict: Bool

    init(_ one: ComparedRun, _ other: ComparedRun, colours: ThreadColours) {
        self.colours = colours
        isStrict = colours.areEqual
        keys = (one.threadKeys, other.threadKeys)
        var seen = Array(repeating: false, count: other.threadKeys.count)
        for (place, entry) in other.recording.entries.enumerated() where other.chains.chainOfEntry[place] >= 0 {
            let thread = Int(other.chains.thread[Int(other.chains.chainOfEntry[place])])
            guard !seen[thread] else { continue }
            seen[thread] = true
            byColour[colours.second[thread], default: []].append(entry.thread)
            byKey[other.threadKeys[thread], default: []].append(entry.thread)
        }
    }

    /// All of a thread's colour.
    func alike(_ one: Int32) -> [Int32] { byColour[colours.first[Int(one)]] ?? [] }

    func mayMatch(_ one: Int32, _ other: Int32) -> Bool {
        keys.0[Int(one)] == keys.1[Int(other)]
            && (!isStrict || colours.first[Int(one)] == colours.second[Int(other)])
    }

    /// The candidate after so many others that suit, and whether there is one more.
    ///
    func candidate(
        for one: Int32, after skipped: Int, firstFree: FirstFree, isFree: (Int32) -> Bool,
        suits: (Int32) -> Bool
    ) -> (thread: Int32, hasMore: Bool)? {
        let colour = colours.first[Int(one)]
        let alike = byColour[colour] ?? []
        var start = firstFree.places[colour, default: 0]
        while start < alike.count, !isFree(alike[start]) { start += 1 }
        firstFree.places[colour] = start
        var found: Int32?
        var skipped = skipped
        for thread in alike[start...] where isFree(thread) && suits(thread) {
            if let found { return (found, true) }
            if skipped == 0 { found = thread } else { skipped -= 1 }
        }
        guard !isStrict else { return found.map { ($0, false) } }
        for thread in byKey[keys.0[Int(one)]] ?? []
        where colours.second[Int(thread)] != colour && isFree(thread) && suits(thread) {
            if let found { return (found, true) }
            if skipped == 0 { found = thread } else { skipped -= 1 }
        }
        return found.map { ($0, false) }
    }
}
