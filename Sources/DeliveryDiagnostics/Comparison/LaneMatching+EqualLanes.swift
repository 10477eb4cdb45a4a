/// Lanes that are equal.
extension LaneMatching {
    mutating func matchEqualLanes() {
        let alike = Dictionary(grouping: runs.second.lanes.indices.reversed().map(Int32.init)) { key($0, .second) }
        let rivals = Dictionary(grouping: lanes) { key($0, .first) }
        // Those without a choice first: they determine others.
        for mayChoose in [false, true] {
            var candidates = alike
            for lane in lanes where isFree(lane, .first) && parent(lane) != nil {
                if let other = certain(lane) {
                    if other >= 0 { _ = settle(lane, other, isTrial: false) }
                    continue
                }
                let key = key(lane, .first)
                while let last = candidates[key]?.last, !isFree(last, .second) { candidates[key]?.removeLast() }
                var found = Array(
                    (candidates[key] ?? []).reversed().lazy.filter { [self] in
                        mayMatch(lane, $0) && areAlike(lane, $0)
                    }.prefix(Self.maximumCandidates))
                found.sort { isTruncated && lineCount($0, .second) > lineCount($1, .second) }
                let hasRival =
                    isTruncated && mayBeMissing(lane, of: .first)
                    && (rivals[key] ?? []).prefix(Self.maximumCandidates).contains { rival in
                        rival != lane && isFree(rival, .first) && found.contains { areAlike(rival, $0) }
                    }
                let isChoice = (found.count > 1 || hasRival) && hasNames(lane)
                if isChoice && !mayChoose { continue }
                hasChoice = hasChoice || isChoice
                _ = found.contains { settle(lane, $0, isTrial: isChoice) }
            }
        }
    }

    /// Numbers for what lanes do.
    static func words(_ runs: Pair<ComparedRun>, _ isChance: Pair<[Bool]>) -> Pair<[Int]> {
        var words = Pair<[Int]>([], [])
        for side in RunSide.allCases {
            words[side] = runs[side].lanes.map { lane in
                let lines = lane.lines.filter { !isChance[side][Int($0)] }
                return lines.isEmpty
                    ? 0 : ComparedRun.hash(lane.key.label, lines.map { runs[side].lines[Int($0)].skeleton })
            }
        }
        return words
    }

    /// Equal for lanes that may be equal.
    private func key(_ lane: Int32, _ side: RunSide) -> Int {
        isTruncated ? runs[side].lanes[Int(lane)].key.label : words[side][Int(lane)]
    }

    /// True if the lines of two lanes may be the same, as far as both runs go.
    private func areAlike(_ lane: Int32, _ other: Int32) -> Bool {
        guard isTruncated else { return true }
        let lines = (runs.first.lanes[Int(lane)].lines, runs.second.lanes[Int(other)].lines)
        return mayHaveCounts(lane, other, lines.0.count, lines.1.count)
            && zip(lines.0, lines.1).allSatisfy {
                runs.first.lines[Int($0)].skeleton == runs.second.lines[Int($1)].skeleton
            }
    }

    /// True if two lanes have equally many lines, or one has fewer because its process is truncated.
    private func mayHaveCounts(_ lane: Int32, _ other: Int32, _ count: Int, _ otherCount: Int) -> Bool {
        count == otherCount
            || count < otherCount && runs.first.truncated.contains(runs.first.lanes[Int(lane)].process)
            || count > otherCount && runs.second.truncated.contains(runs.second.lanes[Int(other)].process)
    }

    /// True if another choice for a lane may make a difference.
    private func hasNames(_ lane: Int32) -> Bool {
        let lane = runs.first.lanes[Int(lane)]
        return !lane.key.names.isEmpty || lane.lines.contains { !runs.first.lines[Int($0)].tokens.isEmpty }
    }

    private func lineCount(_ lane: Int32, _ side: RunSide) -> Int { runs[side].lanes[Int(lane)].lines.count }

    /// Matches a lane with another one if they are equal, and then each lane of which that determines the counterpart.
    ///
    /// - Parameter isTrial: whether these have to be equal too.
    private mutating func settle(_ lane: Int32, _ other: Int32, isTrial: Bool) -> Bool {
        let start = mark
        var rest = [(lane, other)]
        while let (lane, other) = rest.popLast() {
            guard isFree(lane, .first) else { continue }
            let before = mark
            guard mayMatch(lane, other), matchLines(lane, other) else {
                undo(to: isTrial ? start : before)
                if isTrial || joined.count == start.lanes { return false }
                continue
            }
            let named = renaming.matched[before.names...].flatMap { lanesOfName[Int($0)] }
            for next in children[Int(lane)] + named where isFree(next, .first) {
                guard let other = certain(next) else { continue }
                if other >= 0 {
                    rest.append((next, other))
                } else if isTrial, !mayBeMissing(next, of: .first) {
                    undo(to: start)
                    return false
                }
            }
        }
        return true
    }

    private mutating func matchLines(_ lane: Int32, _ other: Int32) -> Bool {
        join(lane, other)
        let (first, second) = (remaining(lane, .first), remaining(other, .second))
        return mayHaveCounts(lane, other, first.count, second.count)
            && zip(first, second).allSatisfy { match($0, $1) }
    }

    mutating func countMatches(_ lane: Int32) {
        let lines = Pair(remaining(lane, .first), remaining(counterparts.first[Int(lane)], .second))
        let count = min(lines.first.count, lines.second.count)
        matched += count
        for side in RunSide.allCases { addMissing(lines[side][count...], side) }
    }
}
