/// Lines that have no counterpart.
extension LaneMatching {
    /// If one run has lines that the other does not have, the next common line is sought that far.
    private static let longestGap = 64
    private static let maximumDifferences = 10_000
    private static let maximumReused = 1000

    /// The id of a thread that has ended may be that of a later one: its lane is that of two threads.
    mutating func matchReusedThreads() {
        /// The free lanes of threads with ids, except the main thread of a log, which writes first and does not end
        /// before others.
        func reusable(_ side: RunSide) -> [Int32] {
            runs[side].lanes.indices.dropFirst().map(Int32.init).filter {
                lane($0, side).mayBeReused && isFree($0, side)
            }
        }
        guard RunSide.allCases.allSatisfy({ reusable($0).count <= Self.maximumReused }) else { return }
        for side in RunSide.allCases {
            let other = side.opposite
            for lane in reusable(side) {
                let (lines, label, known) = (
                    self.lane(lane, side).lines, self.lane(lane, side).key.label, renaming.matched.count
                )
                var (parts, rest, end) = ([Int32](), lines[...], Int32(-1))
                for part in reusable(other) where self.lane(part, other).key.label == label {
                    let own = self.lane(part, other).lines
                    guard own[0] > end, own.count <= rest.count,
                        zip(rest, own).allSatisfy({ side == .first ? match($0, $1) : match($1, $0) })
                    else { continue }
                    parts.append(part)
                    (rest, end) = (rest.dropFirst(own.count), own[own.count - 1])
                }
                guard rest.isEmpty, parts.count > 1 else {
                    renaming.undo(to: known)
                    continue
                }
                counterparts[side][Int(lane)] = parts[0]
                for part in parts { counterparts[other][Int(part)] = lane }
                matched += lines.count
                reuses.append(Reuse(side: side, line: lines[0], others: parts.map { self.lane($0, other).lines[0] }))
            }
        }
    }

    /// Pairs the lanes without a counterpart with the most similar ones, and compares their lines.
    mutating func alignOthers() {
        let free = runs.second.lanes.indices.reversed().map(Int32.init).filter { isFree($0, .second) }
        var all = Dictionary(grouping: free) { lane($0, .second).key.label }
        var contents = Pair<[Int32: [Int: Int]]>([:], [:])
        for isSimilar in [true, false] {
            for lane in lanes where isFree(lane, .first) && parent(lane) != nil {
                if differences.count > Self.maximumDifferences { break }
                if let other = certain(lane) {
                    if other >= 0 { align(lane, other) }
                    continue
                }
                let found = candidates(lane, self.lane(lane, .first).key.label, &all)
                // One of several threads without names may have no records in a truncated run.
                let isOnly = found.count == 1 && siblings(lane).count == 1
                if !isSimilar, !isOnly, mayBeMissing(lane, of: .first) { continue }
                let scores = found.map { similarity(lane, $0, &contents) }
                guard let best = scores.max(), best > 0 || !isSimilar, let index = scores.firstIndex(of: best)
                else { continue }
                align(lane, found[index])
            }
        }
        for side in RunSide.allCases {
            for lane in runs[side].lanes.indices.map(Int32.init) where isFree(lane, side) {
                report(rest: remaining(lane, side)[...], of: lane, side)
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

    private mutating func align(_ lane: Int32, _ other: Int32) {
        join(lane, other)
        var rest = Pair(remaining(lane, .first)[...], remaining(other, .second)[...])
        while differences.count <= Self.maximumDifferences {
            for side in RunSide.allCases {
                while let line = rest[side].first, isCaused(line, side) {
                    remove(line, side)
                    rest[side].removeFirst()
                }
            }
            guard let first = rest.first.first, let second = rest.second.first else { break }
            var gap = (1, 1)
            if match(first, second) {
                matched += 1
            } else {
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
        let (first, second) = (
            Array(rest.first.prefix(Self.longestGap + 1)), Array(rest.second.prefix(Self.longestGap + 1))
        )
        for sum in 1...Self.longestGap {
            for gap in (0...sum).sorted(by: { abs(2 * $0 - sum) < abs(2 * $1 - sum) })
            where gap < first.count && sum - gap < second.count {
                let (one, two) = (first[gap], second[sum - gap])
                let areCaused = isCaused(one, .first, since: first[0]) || isCaused(two, .second, since: second[0])
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

    private mutating func report(rest: ArraySlice<Int32>, of lane: Int32, _ side: RunSide) {
        if mayBeMissing(lane, of: side) { return addMissing(rest, side) }
        let next = Pair(side, rest.first, nil)
        report(side == .first ? rest : [], side == .second ? rest : [], next)
    }

    /// Adds the lines that have no counterpart, except those that others of them cause. Those that look alike are
    /// paired, then others at the same place.
    private mutating func report(_ first: ArraySlice<Int32>, _ second: ArraySlice<Int32>, _ next: Pair<Int32?>) {
        var lines = Pair<[Int32]>([], [])
        for (side, all) in [(RunSide.first, first), (.second, second)] {
            for line in all {
                if !isCaused(line, side) { lines[side].append(line) }
                remove(line, side)
            }
        }
        for isAlike in [true, false] {
            for line in lines.first {
                let found = lines.second.firstIndex { other in
                    mayBePaired(line, other)
                        && (!isAlike || runs.first.lines[Int(line)].shape == runs.second.lines[Int(other)].shape)
                }
                guard let found else { continue }
                differences.append(Difference(lines: Pair(line, lines.second.remove(at: found)), next: next))
                lines.first.removeAll { $0 == line }
            }
        }
        for side in RunSide.allCases {
            differences += lines[side].map { Difference(lines: Pair(side, $0, nil), next: next) }
        }
    }

    /// False for outcomes of two deliveries.
    private func mayBePaired(_ line: Int32, _ other: Int32) -> Bool {
        switch (runs.first.outcomes[line], runs.second.outcomes[other]) {
        case (nil, nil): true
        case (let first?, let second?):
            renaming.mayMatch(first.delivery.post, second.delivery.post)
                && renaming.mayMatch(first.delivery.observer, second.delivery.observer)
                && first.isDelivered == second.isDelivered
        default: false
        }
    }

    /// Joins a line of one run only with the same line elsewhere in the other.
    mutating func findMoved() {
        var others: [Int: [Int]] = [:]
        for (number, difference) in differences.enumerated() where difference.lines.first == nil {
            guard let second = difference.lines.second else { continue }
            others[runs.second.lines[Int(second)].skeleton, default: []].append(number)
        }
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
        differences = differences.enumerated().filter { !used.contains($0.offset) }.map(\.element)
    }

    func position(_ difference: Difference) -> Int {
        if let first = difference.lines.first ?? difference.next.first { return 2 * Int(first) }
        return 2 * Int(difference.lines.second ?? 0) + 1
    }
}
