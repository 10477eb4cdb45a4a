/// Lines that have no counterpart.
extension LaneMatching {
    /// If one run has lines that the other does not have, the next common line is sought that far.
    private static let longestGap = 64
    private static let maximumDifferences = 10_000

    /// Pairs the lanes without a counterpart with the most similar ones, and compares their lines.
    mutating func pairOthers() {
        let keys = runs.first.lanes.map { [$0.key.label, Int($0.key.parent)] }
        let count = Dictionary(grouping: keys) { $0 }.mapValues(\.count)
        var candidates = Dictionary(
            grouping: runs.second.lanes.indices.reversed().map(Int32.init).filter { isFree($0, .second) }
        ) { runs.second.lanes[Int($0)].key.label }
        var contents = Pair<[Int32: [Int: Int]]>([:], [:])
        for isSimilar in [true, false] {
            for lane in lanes where isFree(lane, .first) && parent(lane) != nil {
                if differences.count > Self.maximumDifferences { return }
                if let other = certain(lane) {
                    if other >= 0 { align(lane, other) }
                    continue
                }
                let label = runs.first.lanes[Int(lane)].key.label
                while let last = candidates[label]?.last, !isFree(last, .second) { candidates[label]?.removeLast() }
                let found = Array(
                    (candidates[label] ?? []).reversed().lazy.filter { [self] in mayMatch(lane, $0) }
                        .prefix(Self.maximumCandidates))
                // One of several threads without names may have no records in a truncated run.
                let isOnly = found.count == 1 && count[keys[Int(lane)]] == 1
                if !isSimilar, !isOnly, mayBeMissing(lane, of: .first) { continue }
                var best: (lane: Int32, score: Int)?
                for other in found {
                    let score = similarity(lane, other, &contents)
                    if score > best?.score ?? (isSimilar ? 0 : -1) { best = (other, score) }
                }
                if let best { align(lane, best.lane) }
            }
        }
    }

    private func similarity(_ lane: Int32, _ other: Int32, _ contents: inout Pair<[Int32: [Int: Int]]>) -> Int {
        for (side, lane) in [(RunSide.first, lane), (.second, other)] where contents[side][lane] == nil {
            contents[side][lane] = runs[side].lanes[Int(lane)].lines.reduce(into: [:]) { counts, line in
                counts[runs[side].lines[Int(line)].skeleton, default: 0] += 1
                counts[runs[side].shapes[Int(line)], default: 0] += 1
            }
        }
        let others = contents.second[other] ?? [:]
        return (contents.first[lane] ?? [:]).reduce(0) { $0 + min($1.value, others[$1.key] ?? 0) }
    }

    private mutating func align(_ lane: Int32, _ other: Int32) {
        join(lane, other)
        let lines = Pair(remaining(lane, .first), remaining(other, .second))
        var (first, second) = (0, 0)
        while first < lines.first.count, second < lines.second.count {
            let (isCaused, isOtherCaused) = (
                isCaused(lines.first[first], .first), isCaused(lines.second[second], .second)
            )
            if isCaused || isOtherCaused {
                if isCaused { remove(lines.first[first], .first) }
                if isOtherCaused { remove(lines.second[second], .second) }
                (first, second) = (first + (isCaused ? 1 : 0), second + (isOtherCaused ? 1 : 0))
            } else if match(lines.first[first], lines.second[second]) {
                (first, second, matched) = (first + 1, second + 1, matched + 1)
            } else {
                let (gap, otherGap) = gap(lines, first, second)
                report(
                    lines.first[first..<first + gap], lines.second[second..<second + otherGap],
                    Pair(lines.first[first], lines.second[second]))
                (first, second) = (first + gap, second + otherGap)
                if differences.count > Self.maximumDifferences { return }
            }
        }
        report(rest: lines.first[first...], of: lane, .first)
        report(rest: lines.second[second...], of: other, .second)
    }

    /// The number of lines of each that are left out before the next equal line.
    private mutating func gap(_ lines: Pair<[Int32]>, _ first: Int, _ second: Int) -> (Int, Int) {
        let rest = (lines.first.count - first, lines.second.count - second)
        for sum in 1...Self.longestGap {
            // As many lines of each, if possible: lines were changed.
            for gap in (0...sum).sorted(by: { abs(2 * $0 - sum) < abs(2 * $1 - sum) })
            where gap < rest.0 && sum - gap < rest.1 {
                let (one, two) = (lines.first[first + gap], lines.second[second + sum - gap])
                let areCaused =
                    isCaused(one, .first, since: lines.first[first])
                    || isCaused(two, .second, since: lines.second[second])
                if !areCaused, match(one, two) { return (gap, sum - gap) }
            }
        }
        return (1, 1)
    }

    /// True if a line is caused by another one of its lane that does not come before a third.
    private func isCaused(_ line: Int32, _ side: RunSide, since start: Int32) -> Bool {
        let (lines, cause) = (runs[side].lines, runs[side].lines[Int(line)].cause)
        return cause >= start && lines[Int(cause)].lane == lines[Int(line)].lane
    }

    /// Adds the lines that have no counterpart, except those that others of them cause.
    private mutating func report(_ first: ArraySlice<Int32>, _ second: ArraySlice<Int32>, _ next: Pair<Int32?>) {
        var lines = Pair<[Int32]>([], [])
        for (side, all) in [(RunSide.first, first), (.second, second)] {
            for line in all {
                if !isCaused(line, side) { lines[side].append(line) }
                remove(line, side)
            }
        }
        var pairs: [Pair<Int32?>] = []
        // Lines that look alike, then others at the same place.
        for isAlike in [true, false] {
            for line in lines.first where !pairs.contains(where: { $0.first == line }) {
                let other = lines.second.first { other in
                    !pairs.contains { $0.second == other } && mayBePaired(line, other)
                        && (!isAlike || runs.first.shapes[Int(line)] == runs.second.shapes[Int(other)])
                }
                if let other { pairs.append(Pair(line, other)) }
            }
        }
        for (side, line) in lines.first.map({ (RunSide.first, $0) }) + lines.second.map({ (.second, $0) })
        where !pairs.contains(where: { $0[side] == line }) {
            pairs.append(side == .first ? Pair(line, nil) : Pair(nil, line))
        }
        differences += pairs.map { Difference(lines: $0, next: next) }
    }

    mutating func report(rest: ArraySlice<Int32>, of lane: Int32, _ side: RunSide) {
        if mayBeMissing(lane, of: side) { return addMissing(rest, side) }
        var next = Pair<Int32?>(nil, nil)
        next[side] = rest.first
        report(side == .first ? rest : [], side == .second ? rest : [], next)
    }

    /// False for outcomes of two deliveries.
    private func mayBePaired(_ line: Int32, _ other: Int32) -> Bool {
        guard let first = runs.first.outcomes[line], let second = runs.second.outcomes[other] else {
            return runs.first.outcomes[line] == nil && runs.second.outcomes[other] == nil
        }
        return renaming.mayMatch(first.delivery.post, second.delivery.post)
            && renaming.mayMatch(first.delivery.observer, second.delivery.observer)
            && first.isDelivered == second.isDelivered
    }

    /// Joins a line of one run only with the same line elsewhere in the other.
    mutating func findMoved() {
        var others: [Int: [Int]] = [:]
        for (number, difference) in differences.enumerated() {
            guard difference.lines.first == nil, let second = difference.lines.second else { continue }
            others[runs.second.lines[Int(second)].skeleton, default: []].append(number)
        }
        var used: Set<Int> = []
        for number in differences.indices where differences[number].lines.second == nil {
            guard let first = differences[number].lines.first else { continue }
            let candidates = (others[runs.first.lines[Int(first)].skeleton] ?? []).lazy.filter { !used.contains($0) }
            let equal = candidates.prefix(Self.maximumCandidates).first { other in
                differences[other].lines.second.map { match(first, $0) } ?? false
            }
            let similar = runs.first.isText ? candidates.first : nil
            if let other = equal ?? similar, let second = differences[other].lines.second {
                used.insert(other)
                differences[number].lines.second = second
                differences[number].isMoved = true
                if differences[number].next.second == nil { differences[number].next = differences[other].next }
            }
        }
        differences = differences.enumerated().filter { !used.contains($0.offset) }.map(\.element)
    }

    func position(_ difference: Difference) -> Int {
        if let first = difference.lines.first ?? difference.next.first { return 2 * Int(first) }
        return 2 * Int(difference.lines.second ?? 0) + 1
    }
}
