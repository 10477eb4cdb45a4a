/// Lines that have no counterpart.
extension LaneMatching {
    /// If one run has lines that the other does not have, the next common line is sought that far.
    private static let longestGap = 64
    /// For each gap, the lines of each run that are left out: the shortest first, and of these the most even ones.
    private static let gaps = (1...longestGap).flatMap { sum in
        (0...sum).sorted { abs(2 * $0 - sum) < abs(2 * $1 - sum) }.map { ($0, sum - $0) }
    }
    /// What follows in a lane, and other lanes, are not compared.
    private static let (maximumOfLane, maximum) = (1000, 10_000)

    /// Pairs the lanes without a counterpart with the most similar ones, and compares their lines.
    mutating func alignOthers() {
        var all = Dictionary(grouping: runs[1].lanes.indices.reversed()) { runs[1].lanes[$0].key.label }
        var contents: [[Int: Set<Int>]] = [[:], [:]]
        for isSimilar in [true, false] {
            for lane in runs[0].lanes.indices where isFree(lane, 0) && differences.count < Self.maximum {
                let found = candidates(lane, runs[0].lanes[lane].key.label, &all)
                let best = found.map { (similarity(lane, $0, &contents), $0) }.max { $0.0 < $1.0 }
                if let best, best.0 > 0 || !isSimilar { align(lane, best.1) }
            }
        }
        for side in runs.indices {
            for lane in runs[side].lanes.indices where isFree(lane, side) && differences.count < Self.maximum {
                report(rest: lines(lane, side)[...], side)
            }
        }
    }

    /// The number of lines that look alike in two lanes.
    private func similarity(_ lane: Int, _ other: Int, _ contents: inout [[Int: Set<Int>]]) -> Int {
        for (side, lane) in [lane, other].enumerated() where contents[side][lane] == nil {
            contents[side][lane] = Set(lines(lane, side).map { runs[side].lines[$0].shape })
        }
        return (contents[0][lane] ?? []).intersection(contents[1][other] ?? []).count
    }

    private mutating func align(_ lane: Int, _ other: Int) {
        join(lane, other)
        var rest = [lines(lane, 0)[...], lines(other, 1)[...]]
        let maximum = differences.count + Self.maximumOfLane
        while true {
            guard differences.count < maximum else {
                for side in runs.indices { for line in rest[side] { isRemoved[side][line] = true } }
                return
            }
            for side in runs.indices {
                while let line = rest[side].first, isCaused(line, side) {
                    isRemoved[side][line] = true
                    rest[side].removeFirst()
                }
            }
            guard let first = rest[0].first, let second = rest[1].first else { break }
            var gap = (1, 1)
            if !match(first, second) {
                gap = self.gap(rest)
                report([rest[0].prefix(gap.0), rest[1].prefix(gap.1)], [first, second])
            }
            rest = [rest[0].dropFirst(gap.0), rest[1].dropFirst(gap.1)]
        }
        for side in runs.indices { report(rest: rest[side], side) }
    }

    /// The number of lines of each that are left out before the next equal line: as many of each, if possible, because
    /// lines were changed.
    private mutating func gap(_ rest: [ArraySlice<Int>]) -> (Int, Int) {
        let lines = rest.map { Array($0.prefix(Self.longestGap + 1)) }
        let skeletons = runs.indices.map { side in lines[side].map { runs[side].lines[$0].skeleton } }
        guard !Set(skeletons[0]).isDisjoint(with: skeletons[1]) else { return (1, 1) }
        let count = matched
        defer { matched = count }
        for gap in Self.gaps where gap.0 < lines[0].count && gap.1 < lines[1].count {
            guard skeletons[0][gap.0] == skeletons[1][gap.1] else { continue }
            let next = [lines[0][gap.0], lines[1][gap.1]]
            // A line that one of the left out lines of its lane causes is left out with it.
            let areCaused = runs.indices.contains { side in
                let (all, line) = (runs[side].lines, runs[side].lines[next[side]])
                return line.cause >= lines[side][0] && all[line.cause].lane == line.lane
            }
            if !areCaused, match(next[0], next[1]) { return gap }
        }
        return (1, 1)
    }

    private func isCaused(_ line: Int, _ side: Int) -> Bool {
        let cause = runs[side].lines[line].cause
        return isRemoved[side][line] || cause >= 0 && isRemoved[side][cause]
    }

    private mutating func report(rest: ArraySlice<Int>, _ side: Int) {
        report(side == 0 ? [rest, []] : [[], rest], side == 0 ? [rest.first, nil] : [nil, rest.first])
    }

    /// Adds the lines that have no counterpart, except those that others of them cause. Those that look alike are
    /// paired, then others at the same place.
    private mutating func report(_ slices: [ArraySlice<Int>], _ next: [Int?]) {
        var lines: [[Int]] = [[], []]
        for side in runs.indices {
            for line in slices[side] {
                if !isCaused(line, side) { lines[side].append(line) }
                isRemoved[side][line] = true
            }
        }
        for isAlike in [true, false] {
            for line in lines[0] {
                let shape = runs[0].lines[line].shape
                let found = lines[1].firstIndex { !isAlike || shape == runs[1].lines[$0].shape }
                guard let found else { continue }
                differences.append(Difference(lines: [line, lines[1].remove(at: found)], next: next))
                lines[0].removeAll { $0 == line }
            }
        }
        differences += lines[0].map { Difference(lines: [$0, nil], next: next) }
        differences += lines[1].map { Difference(lines: [nil, $0], next: next) }
    }

    /// Joins a line of one run only with the same line elsewhere in the other.
    mutating func findMoved() {
        // The first is the last.
        var others: [Int: [Int]] = [:]
        for (number, difference) in differences.enumerated().reversed() where difference.lines[0] == nil {
            if let second = difference.lines[1] { others[runs[1].lines[second].skeleton, default: []].append(number) }
        }
        let count = matched
        var used: Set<Int> = []
        for number in differences.indices where differences[number].lines[1] == nil {
            guard let first = differences[number].lines[0] else { continue }
            let skeleton = runs[0].lines[first].skeleton
            let candidates = Array((others[skeleton] ?? []).suffix(Self.maximumCandidates))
            let equal = candidates.last { other in differences[other].lines[1].map { match(first, $0) } ?? false }
            guard let other = equal ?? (runs[0].isText ? candidates.last : nil),
                let place = others[skeleton]?.lastIndex(of: other)
            else { continue }
            others[skeleton]?.remove(at: place)
            used.insert(other)
            differences[number].lines[1] = differences[other].lines[1]
            differences[number].isMoved = true
            if differences[number].next[1] == nil { differences[number].next = differences[other].next }
        }
        matched = count
        differences = differences.enumerated().filter { !used.contains($0.offset) }.map(\.element)
    }

    func position(_ difference: Difference) -> Int {
        if let first = difference.lines[0] ?? difference.next[0] { return 2 * first }
        return 2 * (difference.lines[1] ?? 0) + 1
    }
}
