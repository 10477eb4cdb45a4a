/// Matches the lanes of two runs one to one, and finds the lines without a counterpart.
///
/// First, equal lanes are matched, those without a choice before others. If several may correspond to a lane, each is
/// tried with everything that follows from it. The rest are matched with the most similar ones, and their lines aligned.
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

    /// A change that a trial undoes.
    private enum Change {
        case lane(Int32)
        case removal(RunSide, Int32)
    }

    let runs: Pair<ComparedRun>
    let chance: ChanceOutcomes
    var renaming: Renaming
    /// For each lane: its counterpart, or one that it is compared with; -1 if there is none.
    var counterparts: Pair<[Int32]>
    var differences: [Difference] = []
    var reuses: [Reuse] = []
    /// The number of lines that are the same.
    var matched = 0
    /// The first lines that only one run has because the other is truncated.
    var missing = Pair<Int32?>(nil, nil)

    /// True if lanes do the same, so that another choice may have made the runs the same.
    private var hasChoice = false
    /// The lines that differ, are chance, or are caused by such lines.
    private var isRemoved: Pair<[Bool]>
    private var removedCount = 0
    private var changes: [Change] = []
    /// For each lane a number of its contents: lanes of other numbers differ.
    private let contents: Pair<[Int]>
    private let lanesByKey: [ComparedRun.LaneKey: Int32]
    /// For each lane of the first run, and for each name: the lanes that it determines.
    private var children: [[Int32]]
    private var lanesOfName: [[Int32]]
    /// The lanes of the first run that only their contents tell apart.
    private let siblings: [[Int]: [Int32]]

    static let maximumCandidates = 64

    init(_ runs: Pair<ComparedRun>, _ chance: ChanceOutcomes) {
        (self.runs, self.chance, renaming) = (runs, chance, Renaming(runs))
        counterparts = runs.map { Array(repeating: -1, count: $0.lanes.count) }
        isRemoved = runs.map { Array(repeating: false, count: $0.lines.count) }
        contents = runs.map { run in
            let isChance = chance.all(run)
            return run.lanes.map { lane in
                let lines = lane.lines.filter { !isChance[Int($0)] }
                return lines.isEmpty ? 0 : ComparedRun.hash(lane.key.label, lines.map { run.lines[Int($0)].skeleton })
            }
        }
        lanesByKey = Dictionary(runs.second.lanes.enumerated().map { ($1.key, Int32($0)) }) { one, _ in one }
        siblings = Dictionary(grouping: runs.first.lanes.indices.map(Int32.init)) { runs.first.lanes[Int($0)].family }
        children = Array(repeating: [], count: runs.first.lanes.count)
        lanesOfName = Array(repeating: [], count: runs.first.names.count)
        for (number, lane) in zip(Int32(0)..., runs.first.lanes) {
            if lane.key.parent >= 0 { children[Int(lane.key.parent)].append(number) }
            for name in lane.key.names { lanesOfName[Int(name)].append(number) }
        }
        for mayChoose in [false, true] { matchEqualLanes(mayChoose: mayChoose) }
        for case .lane(let lane) in changes { countMatches(lane) }
        matchReusedThreads()
        alignOthers()
        findMoved()
        differences = differences.map { (position($0), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
    }

    var isTruncated: Bool { runs.first.isTruncated || runs.second.isTruncated }

    /// Lanes in which nothing is compared exist by chance.
    var isUndecided: Bool {
        let sorted = contents.map { $0.filter { $0 != 0 }.sorted() }
        return hasChoice && !differences.isEmpty && (isTruncated || sorted.first == sorted.second)
    }

    // MARK: Lanes

    var lanes: Range<Int32> { 0..<Int32(runs.first.lanes.count) }

    func lane(_ lane: Int32, _ side: RunSide) -> ComparedRun.Lane { runs[side].lanes[Int(lane)] }

    func isFree(_ lane: Int32, _ side: RunSide) -> Bool { counterparts[side][Int(lane)] < 0 }

    /// The parent of a lane in the other run, -1 if it has none; nil if it is not matched.
    func parent(_ lane: Int32) -> Int32? {
        let parent = self.lane(lane, .first).key.parent
        if parent < 0 { return -1 }
        return isFree(parent, .first) ? nil : counterparts.first[Int(parent)]
    }

    /// The only lane that may correspond to a lane, by its names, -1 if it does not exist; nil if any may.
    func certain(_ lane: Int32) -> Int32? {
        var key = self.lane(lane, .first).key
        guard !key.names.isEmpty, let parent = parent(lane) else { return nil }
        key.parent = parent
        key.names = key.names.map { renaming.counterpart(of: $0, on: .first) }
        if key.names.contains(-1) { return nil }
        guard let found = lanesByKey[key], isFree(found, .second) else { return -1 }
        return found
    }

    private func mayMatch(_ lane: Int32, _ other: Int32) -> Bool {
        let (one, two) = (self.lane(lane, .first), self.lane(other, .second))
        return isFree(other, .second) && one.key.label == two.key.label && parent(lane) == two.key.parent
            && one.key.names.count == two.key.names.count
            && (one.process < 0 || two.process < 0 || renaming.mayMatch(one.process, two.process))
            && zip(one.key.names, two.key.names).allSatisfy { renaming.mayMatch($0, $1) }
    }

    mutating func join(_ lane: Int32, _ other: Int32) {
        (counterparts.first[Int(lane)], counterparts.second[Int(other)]) = (other, lane)
        changes.append(.lane(lane))
        let (one, two) = (self.lane(lane, .first), self.lane(other, .second))
        if one.process >= 0, two.process >= 0 { _ = renaming.match(one.process, two.process) }
        for (name, counterpart) in zip(one.key.names, two.key.names) { _ = renaming.match(name, counterpart) }
    }

    private var mark: (names: Int, changes: Int) { (renaming.matched.count, changes.count) }

    private mutating func undo(to mark: (names: Int, changes: Int)) {
        renaming.undo(to: mark.names)
        while changes.count > mark.changes {
            switch changes.removeLast() {
            case .removal(let side, let line):
                isRemoved[side][Int(line)] = false
                removedCount -= 1
            case .lane(let lane):
                counterparts.second[Int(counterparts.first[Int(lane)])] = -1
                counterparts.first[Int(lane)] = -1
            }
        }
    }

    /// The free lanes of the second run that may correspond to a lane, of those with a number.
    func candidates(
        _ lane: Int32, _ key: Int, _ all: inout [Int: [Int32]], where isSuitable: (Int32) -> Bool = { _ in true }
    ) -> [Int32] {
        while let last = all[key]?.last, !isFree(last, .second) { all[key]?.removeLast() }
        var found: [Int32] = []
        for other in (all[key] ?? []).reversed() where mayMatch(lane, other) && isSuitable(other) {
            found.append(other)
            if found.count == Self.maximumCandidates { break }
        }
        return found
    }

    func siblings(_ lane: Int32) -> [Int32] { siblings[self.lane(lane, .first).family] ?? [] }

    /// True if the other run may lack lines of a lane because it is truncated.
    func mayBeMissing(_ lane: Int32, of side: RunSide) -> Bool {
        let other = runs[side.opposite]
        guard other.isTruncated else { return false }
        let process = renaming.counterpart(of: self.lane(lane, side).process, on: side)
        return process < 0 || other.truncated.contains(process)
    }

    // MARK: Lines

    /// True if a line of each run is of lanes that correspond.
    func isSameLane(_ lines: Pair<Int32?>) -> Bool {
        guard let first = lines.first, let second = lines.second else { return false }
        return counterparts.first[Int(runs.first.lane(ofLine: first))] == runs.second.lane(ofLine: second)
    }

    /// The lines of a lane that are neither chance nor caused by lines that are removed.
    mutating func remaining(_ lane: Int32, _ side: RunSide) -> [Int32] {
        let lines = self.lane(lane, side).lines
        if chance.isEmpty, removedCount == 0 { return lines }
        return lines.filter { line in
            let isLeft = !isCaused(line, side) && !chance.contains(line, side, runs, renaming)
            if !isLeft { remove(line, side) }
            return isLeft
        }
    }

    func isCaused(_ line: Int32, _ side: RunSide) -> Bool {
        let cause = runs[side].lines[Int(line)].cause
        return isRemoved[side][Int(line)] || cause >= 0 && isRemoved[side][Int(cause)]
    }

    mutating func remove(_ line: Int32, _ side: RunSide) {
        guard !isRemoved[side][Int(line)] else { return }
        isRemoved[side][Int(line)] = true
        removedCount += 1
        changes.append(.removal(side, line))
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

    // MARK: Equal lanes

    private mutating func matchEqualLanes(mayChoose: Bool) {
        var all = Dictionary(grouping: runs.second.lanes.indices.reversed().map(Int32.init)) { key($0, .second) }
        for lane in lanes where isFree(lane, .first) && parent(lane) != nil {
            if let other = certain(lane) {
                if other >= 0 { _ = settle(lane, other, isTrial: false) }
                continue
            }
            var found = candidates(lane, key(lane, .first), &all) { areAlike(lane, $0) }
            if isTruncated { found.sort { self.lane($0, .second).lines.count > self.lane($1, .second).lines.count } }
            let hasRival =
                mayBeMissing(lane, of: .first)
                && siblings(lane).prefix(Self.maximumCandidates).contains { rival in
                    rival != lane && isFree(rival, .first) && found.contains { areAlike(rival, $0) }
                }
            let isChoice = (found.count > 1 || hasRival) && hasNames(lane)
            if isChoice && !mayChoose { continue }
            hasChoice = hasChoice || isChoice
            _ = found.contains { settle(lane, $0, isTrial: isChoice) }
        }
    }

    /// Equal for lanes that may be equal.
    private func key(_ lane: Int32, _ side: RunSide) -> Int {
        isTruncated ? self.lane(lane, side).key.label : contents[side][Int(lane)]
    }

    /// True if the lines of two lanes may be the same, as far as both runs go.
    private func areAlike(_ lane: Int32, _ other: Int32) -> Bool {
        guard isTruncated else { return true }
        let (lines, others) = (self.lane(lane, .first).lines, self.lane(other, .second).lines)
        return mayEnd(lane, other, lines.count, others.count)
            && zip(lines, others).allSatisfy {
                runs.first.lines[Int($0)].skeleton == runs.second.lines[Int($1)].skeleton
            }
    }

    /// True if two lanes have equally many lines, or one has fewer because its run is truncated.
    private func mayEnd(_ lane: Int32, _ other: Int32, _ count: Int, _ otherCount: Int) -> Bool {
        count == otherCount || count > otherCount && runs.second.truncated.contains(self.lane(other, .second).process)
            || count < otherCount && runs.first.truncated.contains(self.lane(lane, .first).process)
    }

    /// True if another choice for a lane may make a difference.
    private func hasNames(_ lane: Int32) -> Bool {
        let lane = self.lane(lane, .first)
        return !lane.key.names.isEmpty || lane.lines.contains { !runs.first.lines[Int($0)].tokens.isEmpty }
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
                if isTrial || before.changes == start.changes { return false }
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
        return mayEnd(lane, other, first.count, second.count) && zip(first, second).allSatisfy { match($0, $1) }
    }

    private mutating func countMatches(_ lane: Int32) {
        let lines = Pair(remaining(lane, .first), remaining(counterparts.first[Int(lane)], .second))
        let count = min(lines.first.count, lines.second.count)
        matched += count
        for side in RunSide.allCases { addMissing(lines[side][count...], side) }
    }

    mutating func addMissing(_ lines: ArraySlice<Int32>, _ side: RunSide) {
        missing[side] = [missing[side], lines.first].compactMap(\.self).min()
    }
}
