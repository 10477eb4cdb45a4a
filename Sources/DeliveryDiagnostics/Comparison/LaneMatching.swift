/// Matches the lanes of two runs, and finds the lines without a counterpart.
///
/// First, equal lanes are matched. If several may correspond to a lane, each is tried with everything that follows from
/// it. The others are matched with the most similar ones, and their lines are aligned.
struct LaneMatching {
    /// Lines that differ, or a line of one run only.
    struct Difference {
        var lines: Pair<Int32?>
        /// Where the runs differ: the next line of the lane in each run.
        var next: Pair<Int32?>
        /// True if the same line is elsewhere in the other run.
        var isMoved = false
    }

    /// A lane does what several lanes of the other run do one after the other.
    struct Reuse {
        var side: RunSide
        /// Their first lines.
        var line: Int32
        var others: [Int32]
    }

    let runs: Pair<ComparedRun>
    let colours: LaneColours
    private(set) var renaming: Renaming
    /// For each lane: its counterpart, or one that it is compared with; -1 if there is none.
    private(set) var counterparts: Pair<[Int32]>
    private(set) var differences: [Difference] = []
    let chance: ChanceOutcomes
    /// The number of lines that are the same.
    private(set) var matched = 0
    /// The first lines that only one run has because the other is truncated.
    private(set) var missing = Pair<Int32?>(nil, nil)
    /// True if lanes do the same, so that another choice may have made the runs the same.
    private var hasChoice = false
    var isUndecided: Bool {
        hasChoice && !differences.isEmpty && (runs.first.isTruncated || runs.second.isTruncated || colours.areEqual)
    }

    /// The lines that differ, are chance, or are caused by such lines, and the order in which they were removed.
    private var isRemoved: Pair<[Bool]>
    private var removals: [(side: RunSide, line: Int32)] = []
    private var joined: [Int32] = []
    private(set) var reuses: [Reuse] = []
    private let lanesByKey: [ComparedRun.LaneKey: Int32]
    /// For each lane of the first run, and for each name.
    private var children: [[Int32]]
    private var lanesOfName: [[Int32]]

    /// If one run has lines that the other does not have, the next common line is sought that far.
    private static let longestGap = 64
    private static let maximumDifferences = 10_000
    static let maximumCandidates = 64

    init(_ runs: Pair<ComparedRun>, _ chance: ChanceOutcomes) {
        (self.runs, self.chance) = (runs, chance)
        renaming = Renaming(runs)
        counterparts = runs.map { Array(repeating: -1, count: $0.lanes.count) }
        isRemoved = runs.map { Array(repeating: false, count: $0.lines.count) }
        colours = LaneColours(runs, leftOut: chance.all(runs))
        lanesByKey = Dictionary(
            runs.second.lanes.enumerated().map { ($1.key, Int32($0)) }, uniquingKeysWith: { one, _ in one })
        children = Array(repeating: [], count: runs.first.lanes.count)
        lanesOfName = Array(repeating: [], count: runs.first.names.count)
        for (number, lane) in runs.first.lanes.enumerated() {
            if lane.key.parent >= 0 { children[Int(lane.key.parent)].append(Int32(number)) }
            for name in lane.key.names { lanesOfName[Int(name)].append(Int32(number)) }
        }
    }

    // MARK: Lanes

    private var lanes: Range<Int32> { 0..<Int32(runs.first.lanes.count) }

    func isFree(_ lane: Int32, _ side: RunSide) -> Bool { counterparts[side][Int(lane)] < 0 }

    /// The parent of a lane in the other run, -1 if it has none; nil if it is not matched.
    private func parent(_ lane: Int32) -> Int32? {
        let parent = runs.first.lanes[Int(lane)].key.parent
        if parent < 0 { return -1 }
        return isFree(parent, .first) ? nil : counterparts.first[Int(parent)]
    }

    /// The only lane that may correspond to a lane, by its names, -1 if it does not exist; nil if any may.
    private func certain(_ lane: Int32) -> Int32? {
        var key = runs.first.lanes[Int(lane)].key
        guard !key.names.isEmpty, let parent = parent(lane) else { return nil }
        key.parent = parent
        key.names = key.names.map { renaming.counterpart(of: $0, on: .first) }
        if key.names.contains(-1) { return nil }
        guard let found = lanesByKey[key], isFree(found, .second) else { return -1 }
        return found
    }

    private func mayMatch(_ lane: Int32, _ other: Int32) -> Bool {
        let (one, two) = (runs.first.lanes[Int(lane)], runs.second.lanes[Int(other)])
        return isFree(other, .second) && one.key.label == two.key.label && parent(lane) == two.key.parent
            && one.key.names.count == two.key.names.count
            && (one.process < 0 || two.process < 0 || renaming.mayMatch(one.process, two.process))
            && zip(one.key.names, two.key.names).allSatisfy { renaming.mayMatch($0, $1) }
    }

    private mutating func join(_ lane: Int32, _ other: Int32) {
        (counterparts.first[Int(lane)], counterparts.second[Int(other)]) = (other, lane)
        joined.append(lane)
        let (one, two) = (runs.first.lanes[Int(lane)], runs.second.lanes[Int(other)])
        if one.process >= 0, two.process >= 0 { _ = renaming.match(one.process, two.process) }
        for (name, counterpart) in zip(one.key.names, two.key.names) { _ = renaming.match(name, counterpart) }
    }

    struct Mark {
        var names: Int
        var lanes: Int
        var removals: Int
    }

    var mark: Mark { Mark(names: renaming.matched.count, lanes: joined.count, removals: removals.count) }

    mutating func undo(to mark: Mark) {
        renaming.undo(to: mark.names)
        while joined.count > mark.lanes {
            let lane = Int(joined.removeLast())
            counterparts.second[Int(counterparts.first[lane])] = -1
            counterparts.first[lane] = -1
        }
        while removals.count > mark.removals {
            let (side, line) = removals.removeLast()
            isRemoved[side][Int(line)] = false
        }
    }

    // MARK: Lines

    /// The lines of a lane that are neither chance nor caused by what is removed.
    private mutating func remaining(_ lane: Int32, _ side: RunSide) -> [Int32] {
        let lines = runs[side].lanes[Int(lane)].lines
        if removals.isEmpty, chance.isEmpty { return lines }
        return lines.filter { line in
            let isLeft = !isCaused(line, side) && !chance.contains(line, side, runs, renaming)
            if !isLeft { remove(line, side) }
            return isLeft
        }
    }

    private func isCaused(_ line: Int32, _ side: RunSide) -> Bool {
        let cause = runs[side].lines[Int(line)].cause
        return isRemoved[side][Int(line)] || cause >= 0 && isRemoved[side][Int(cause)]
    }

    private mutating func remove(_ line: Int32, _ side: RunSide) {
        guard !isRemoved[side][Int(line)] else { return }
        isRemoved[side][Int(line)] = true
        removals.append((side, line))
    }

    mutating func match(_ first: Int32, _ second: Int32) -> Bool {
        let (line, other) = (runs.first.lines[Int(first)], runs.second.lines[Int(second)])
        guard line.skeleton == other.skeleton, line.tokens.count == other.tokens.count else { return false }
        let count = renaming.matched.count
        for (token, otherToken) in zip(line.tokens, other.tokens)
        where !renaming.match(runs.first.tokens[token], runs.second.tokens[otherToken]) {
            renaming.undo(to: count)
            return false
        }
        return true
    }

    /// Returns whether a run may lack lines of another's lane because it is truncated.
    private func mayBeMissing(_ lane: Int32, of side: RunSide) -> Bool {
        let other = runs[side.opposite]
        guard other.isTruncated else { return false }
        let process = renaming.counterpart(of: runs[side].lanes[Int(lane)].process, on: side)
        return process < 0 || other.truncated.contains(process)
    }

    // MARK: Equal lanes

    mutating func run() {
        matchEqualLanes()
        for lane in joined { countMatches(lane) }
        matchReusedThreads()
        pairOthers()
        for side in RunSide.allCases {
            for lane in runs[side].lanes.indices.map(Int32.init) where isFree(lane, side) {
                report(rest: remaining(lane, side)[...], of: lane, side)
            }
        }
        findMoved()
        differences = differences.map { (position($0), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
    }

    private mutating func matchEqualLanes() {
        var candidates: [Int: [Int32]] = [:]
        for lane in runs.second.lanes.indices.reversed() {
            for key in Set(keys(lane, .second)) { candidates[key, default: []].append(Int32(lane)) }
        }
        let similar = Dictionary(grouping: lanes) { runs.first.lanes[Int($0)].key.label }
        for lane in lanes where isFree(lane, .first) && parent(lane) != nil {
            if let other = certain(lane) {
                if other >= 0 { _ = settle(lane, other, isTrial: false) }
                continue
            }
            for key in keys(Int(lane), .first) where isFree(lane, .first) {
                while let last = candidates[key]?.last, !isFree(last, .second) { candidates[key]?.removeLast() }
                var found = Array(
                    (candidates[key] ?? []).reversed().lazy.filter { [self] in
                        mayMatch(lane, $0) && areAlike(lane, $0)
                    }.prefix(Self.maximumCandidates))
                found.sort { isTruncated && lineCount($0, .second) > lineCount($1, .second) }
                let rivals = similar[runs.first.lanes[Int(lane)].key.label]?.prefix(Self.maximumCandidates) ?? []
                let hasRival =
                    isTruncated && mayBeMissing(lane, of: .first)
                    && rivals.contains { rival in
                        rival != lane && isFree(rival, .first) && found.contains { areAlike(rival, $0) }
                    }
                let isChoice = hasName(lane) && (found.count > 1 || hasRival)
                hasChoice = hasChoice || isChoice
                _ = found.contains { settle(lane, $0, isTrial: isChoice) }
            }
        }
    }

    /// True if the lines of two lanes are the same except for their names, as far as both runs go.
    private func areAlike(_ lane: Int32, _ other: Int32) -> Bool {
        guard isTruncated else { return true }
        let (one, two) = (runs.first.lanes[Int(lane)], runs.second.lanes[Int(other)])
        return mayHaveCounts(lane, other, one.lines.count, two.lines.count)
            && zip(one.lines, two.lines).allSatisfy {
                runs.first.lines[Int($0)].skeleton == runs.second.lines[Int($1)].skeleton
            }
    }

    /// True if two lanes have equally many lines, or one less because its process is truncated.
    private func mayHaveCounts(_ lane: Int32, _ other: Int32, _ count: Int, _ otherCount: Int) -> Bool {
        count == otherCount
            || count < otherCount && runs.first.truncated.contains(runs.first.lanes[Int(lane)].process)
            || count > otherCount && runs.second.truncated.contains(runs.second.lanes[Int(other)].process)
    }

    private var isTruncated: Bool { runs.first.isTruncated || runs.second.isTruncated }

    private func hasName(_ lane: Int32) -> Bool { !runs.first.lanes[Int(lane)].key.names.isEmpty }

    private func lineCount(_ lane: Int32, _ side: RunSide) -> Int { runs[side].lanes[Int(lane)].lines.count }

    /// Numbers that equal lanes have in common, the most exact one first.
    private func keys(_ lane: Int, _ side: RunSide) -> [Int] {
        let keys = [colours.lanes[side][lane], colours.words[side][lane]]
        return isTruncated ? keys + [runs[side].lanes[lane].key.label] : keys
    }

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

    private mutating func countMatches(_ lane: Int32) {
        let lines = Pair(remaining(lane, .first), remaining(counterparts.first[Int(lane)], .second))
        let count = min(lines.first.count, lines.second.count)
        matched += count
        for side in RunSide.allCases { addMissing(lines[side][count...], side) }
    }

    private mutating func addMissing(_ lines: ArraySlice<Int32>, _ side: RunSide) {
        missing[side] = ([missing[side], lines.first].compactMap(\.self)).min()
    }

    mutating func reuse(_ lane: Int32, _ side: RunSide, _ parts: [Int32]) {
        counterparts[side][Int(lane)] = parts[0]
        for part in parts { counterparts[side.opposite][Int(part)] = lane }
        let lines = runs[side].lanes[Int(lane)].lines
        matched += lines.count
        reuses.append(
            Reuse(
                side: side, line: lines[0], others: parts.map { runs[side.opposite].lanes[Int($0)].lines[0] }))
    }

    // MARK: Differences

    /// Pairs the lanes without a counterpart with the most similar ones, and compares their lines.
    private mutating func pairOthers() {
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
                if !isSimilar, mayBeMissing(lane, of: .first) { continue }
                while let last = candidates[label]?.last, !isFree(last, .second) { candidates[label]?.removeLast() }
                let found = (candidates[label] ?? []).reversed().lazy.filter { [self] in mayMatch(lane, $0) }
                    .prefix(Self.maximumCandidates)
                var best: (lane: Int32, score: Int)?
                for other in Array(found) {
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
                report(lines.first[first..<first + gap], lines.second[second..<second + otherGap],
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
                let areCaused = isCaused(one, .first, since: lines.first[first]) || isCaused(two, .second, since: lines.second[second])
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

    private mutating func report(rest: ArraySlice<Int32>, of lane: Int32, _ side: RunSide) {
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
    private mutating func findMoved() {
        var others: [Int: [Int]] = [:]
        for (number, difference) in differences.enumerated() {
            guard difference.lines.first == nil, let second = difference.lines.second else { continue }
            others[runs.second.lines[Int(second)].skeleton, default: []].append(number)
        }
        var used: Set<Int> = []
        for number in differences.indices where differences[number].lines.second == nil {
            guard let first = differences[number].lines.first else { continue }
            let candidates = (others[runs.first.lines[Int(first)].skeleton] ?? []).lazy.filter { !used.contains($0) }
            for other in candidates.prefix(Self.maximumCandidates) {
                guard let second = differences[other].lines.second, match(first, second) else { continue }
                used.insert(other)
                differences[number].lines.second = second
                differences[number].isMoved = true
                if differences[number].next.second == nil { differences[number].next = differences[other].next }
                break
            }
        }
        differences = differences.enumerated().filter { !used.contains($0.offset) }.map(\.element)
    }

    private func position(_ difference: Difference) -> Int {
        if let first = difference.lines.first ?? difference.next.first { return 2 * Int(first) }
        return 2 * Int(difference.lines.second ?? 0) + 1
    }
}
