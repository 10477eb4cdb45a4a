/// Lines that have no counterpart.
extension LaneMatching {
    /// If one run has lines that the other does not have, the next common line is sought that far.
    private static let longestGap = 64
    private static let maximumDifferences = 10_000

    // MARK: Lanes

    /// The id of a thread that has ended may be that of a later one: its lane is that of several threads. The main
    /// thread of a log, which writes first, does not end before others.
    mutating func matchReusedThreads() {
        let free = Pair(reusable(.first), reusable(.second))
        for (label, first) in free.first.sorted(by: { $0.value[0] < $1.value[0] }) {
            let lanes = Pair(first, free.second[label] ?? [])
            let lines = Pair(lines(lanes.first, .first), lines(lanes.second, .second))
            let (known, count) = (renaming.matched.count, matched)
            guard lanes.first.count != lanes.second.count, lines.first.count == lines.second.count,
                // One after the other in the run with more threads.
                lines[lanes.first.count > lanes.second.count ? .first : .second].isSorted,
                zip(lines.first, lines.second).allSatisfy({ match($0, $1) })
            else {
                renaming.undo(to: known)
                matched = count
                continue
            }
            for side in RunSide.allCases {
                for lane in lanes[side] { counterparts[side][Int(lane)] = lanes[side.opposite][0] }
            }
            reuses.append(lanes)
        }
    }

    /// By their labels: the lanes without a counterpart that may be those of several threads.
    private func reusable(_ side: RunSide) -> [Int: [Int32]] {
        let lanes = runs[side].lanes.indices.dropFirst().map(Int32.init)
        return Dictionary(grouping: lanes.filter { lane($0, side).mayBeReused && isFree($0, side) }) {
            lane($0, side).key.label
        }
    }

    private func lines(_ lanes: [Int32], _ side: RunSide) -> [Int32] { lanes.flatMap { lane($0, side).lines } }

    /// Pairs the lanes without a counterpart with the most similar ones, and compares their lines.
    mutating func alignOthers() {
        var all = Dictionary(grouping: runs.second.lanes.indices.reversed().map(Int32.init)) {
            lane($0, .second).key.label
        }
        var contents = Pair<[Int32: [Int: Int]]>([:], [:])
        for isSimilar in [true, false] {
            for lane in lanes where isFree(lane, .first) && differences.count <= Self.maximumDifferences {
                let found = candidates(lane, self.lane(lane, .first).key.label, &all)
                let best = found.map { (similarity(lane, $0, &contents), $0) }.max { $0.0 < $1.0 }
                let mayAlign =
                    isTruncated ? certain(lane) != nil || isOnly(lane, .first) : best?.0 ?? 0 > 0 || !isSimilar
                if let best, mayAlign { align(lane, best.1) }
            }
        }
        for side in RunSide.allCases {
            for lane in runs[side].lanes.indices.map(Int32.init)
            where isFree(lane, side) && (!isTruncated || isOnly(lane, side)) {
                report(rest: self.lane(lane, side).lines[...], of: lane, side)
            }
        }
    }

    /// The number of lines that two lanes have in common; of those that look alike, half as many.
    private func similarity(_ lane: Int32, _ other: Int32, _ contents: inout Pair<[Int32: [Int: Int]]>) -> Int {
        for (side, lane) in [(RunSide.first, lane), (.second, other)] where contents[side][lane] == nil {
            contents[side][lane] = self.lane(lane, side).lines.reduce(into: [:]) { counts, line in
                counts[runs[side].lines[Int(line)].skeleton, default: 0] += 1
                counts[runs[side].lines[Int(line)].shape, default: 0] += 1
            }
        }
        let others = contents.second[other] ?? [:]
        return (contents.first[lane] ?? [:]).reduce(0) { $0 + min($1.value, others[$1.key] ?? 0) }
    }

    // MARK: Lines

    private mutating func align(_ lane: Int32, _ other: Int32) {
        join(lane, other)
        var rest = Pair(self.lane(lane, .first).lines[...], self.lane(other, .second).lines[...])
        while differences.count <= Self.maximumDifferences {
            for side in RunSide.allCases {
                while let line = rest[side].first, isCaused(line, side) {
                    isRemoved[side][Int(line)] = true
                    rest[side].removeFirst()
                }
            }
            guard let first = rest.first.first, let second = rest.second.first else { break }
            var gap = (1, 1)
            if !match(first, second) {
                gap = self.gap(rest)
                report(rest.first.prefix(gap.0), rest.second.prefix(gap.1), Pair(first, second))
            }
            rest = Pair(rest.first.dropFirst(gap.0), rest.second.dropFirst(gap.1))
        }
        report(rest: rest.first, of: lane, .first)
        report(rest: rest.second, of: other, .second)
    }

    /// The number of lines of each that are left out before the next equal line: as many of each, if possible, because
    /// lines were changed.
    private mutating func gap(_ rest: Pair<ArraySlice<Int32>>) -> (Int, Int) {
        let lines = rest.map { Array($0.prefix(Self.longestGap + 1)) }
        let count = matched
        defer { matched = count }
        for sum in 1...Self.longestGap {
            for gap in (0...sum).sorted(by: { abs(2 * $0 - sum) < abs(2 * $1 - sum) })
            where gap < lines.first.count && sum - gap < lines.second.count {
                let (one, two) = (lines.first[gap], lines.second[sum - gap])
                let areCaused =
                    isCaused(one, .first, since: lines.first[0]) || isCaused(two, .second, since: lines.second[0])
                if !areCaused, match(one, two) { return (gap, sum - gap) }
            }
        }
        return (1, 1)
    }

    private func isCaused(_ line: Int32, _ side: RunSide) -> Bool {
        let cause = runs[side].lines[Int(line)].cause
        return isRemoved[side][Int(line)] || cause >= 0 && isRemoved[side][Int(cause)]
    }

    /// True if a line is caused by another one of its lane that does not come before a third.
    private func isCaused(_ line: Int32, _ side: RunSide, since start: Int32) -> Bool {
        let (lines, cause) = (runs[side].lines, runs[side].lines[Int(line)].cause)
        return cause >= start && lines[Int(cause)].lane == lines[Int(line)].lane
    }

    private mutating func report(rest: ArraySlice<Int32>, of lane: Int32, _ side: RunSide) {
        if mayBeMissing(lane, of: side) { return addMissing(rest, side) }
        report(side == .first ? rest : [], side == .second ? rest : [], Pair(side, rest.first, nil))
    }

    /// Adds the lines that have no counterpart, except those that others of them cause. Those that look alike are
    /// paired, then others at the same place.
    private mutating func report(_ first: ArraySlice<Int32>, _ second: ArraySlice<Int32>, _ next: Pair<Int32?>) {
        var lines = Pair<[Int32]>([], [])
        for (side, all) in [(RunSide.first, first), (.second, second)] {
            for line in all {
                if !isCaused(line, side) { lines[side].append(line) }
                isRemoved[side][Int(line)] = true
            }
        }
        for isAlike in [true, false] {
            for line in lines.first {
                let shape = runs.first.lines[Int(line)].shape
                let found = lines.second.firstIndex { !isAlike || shape == runs.second.lines[Int($0)].shape }
                guard let found else { continue }
                differences.append(Difference(lines: Pair(line, lines.second.remove(at: found)), next: next))
                lines.first.removeAll { $0 == line }
            }
        }
        for side in RunSide.allCases {
            differences += lines[side].map { Difference(lines: Pair(side, $0, nil), next: next) }
        }
    }

    /// Joins a line of one run only with the same line elsewhere in the other.
    mutating func findMoved() {
        var others: [Int: [Int]] = [:]
        for (number, difference) in differences.enumerated() where difference.lines.first == nil {
            guard let second = difference.lines.second else { continue }
            others[runs.second.lines[Int(second)].skeleton, default: []].append(number)
        }
        let count = matched
        var used: Set<Int> = []
        for number in differences.indices where differences[number].lines.second == nil {
            guard let first = differences[number].lines.first else { continue }
            let candidates = (others[runs.first.lines[Int(first)].skeleton] ?? []).filter { !used.contains($0) }
            let equal = candidates.prefix(Self.maximumCandidates).first { other in
                differences[other].lines.second.map { match(first, $0) } ?? false
            }
            guard let other = equal ?? (runs.first.isText ? candidates.first : nil) else { continue }
            used.insert(other)
            differences[number].lines.second = differences[other].lines.second
            differences[number].isMoved = true
            if differences[number].next.second == nil { differences[number].next = differences[other].next }
        }
        matched = count
        differences = differences.enumerated().filter { !used.contains($0.offset) }.map(\.element)
    }

    func position(_ difference: Difference) -> Int {
        if let first = difference.lines.first ?? difference.next.first { return 2 * Int(first) }
        return 2 * Int(difference.lines.second ?? 0) + 1
    }
}

extension [Int32] {
    fileprivate var isSorted: Bool { zip(self, dropFirst()).allSatisfy(<) }
}
