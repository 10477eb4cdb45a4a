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
    /// For each lane a number of what it does: lanes of other numbers differ.
    let words: Pair<[Int]>
    private let hasEqualWords: Bool
    private(set) var renaming: Renaming
    /// For each lane: its counterpart, or one that it is compared with; -1 if there is none.
    var counterparts: Pair<[Int32]>
    var differences: [Difference] = []
    let chance: ChanceOutcomes
    /// The number of lines that are the same.
    var matched = 0
    /// The first lines that only one run has because the other is truncated.
    private(set) var missing = Pair<Int32?>(nil, nil)
    /// True if lanes do the same, so that another choice may have made the runs the same.
    var hasChoice = false
    var isUndecided: Bool {
        hasChoice && !differences.isEmpty && (isTruncated || hasEqualWords)
    }

    var isTruncated: Bool { runs.first.isTruncated || runs.second.isTruncated }

    /// The lines that differ, are chance, or are caused by such lines, and the order in which they were removed.
    private var isRemoved: Pair<[Bool]>
    private var removals: [(side: RunSide, line: Int32)] = []
    var joined: [Int32] = []
    var reuses: [Reuse] = []
    private let lanesByKey: [ComparedRun.LaneKey: Int32]
    /// For each lane of the first run, and for each name.
    var children: [[Int32]]
    var lanesOfName: [[Int32]]

    static let maximumCandidates = 64

    init(_ runs: Pair<ComparedRun>, _ chance: ChanceOutcomes) {
        (self.runs, self.chance) = (runs, chance)
        renaming = Renaming(runs)
        counterparts = runs.map { Array(repeating: -1, count: $0.lanes.count) }
        isRemoved = runs.map { Array(repeating: false, count: $0.lines.count) }
        words = Self.words(runs, chance.all(runs))
        // Whether a lane exists in which nothing is compared is chance.
        let counted = words.map { $0.filter { $0 != 0 }.sorted() }
        hasEqualWords = counted.first == counted.second
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

    var lanes: Range<Int32> { 0..<Int32(runs.first.lanes.count) }

    func isFree(_ lane: Int32, _ side: RunSide) -> Bool { counterparts[side][Int(lane)] < 0 }

    /// The parent of a lane in the other run, -1 if it has none; nil if it is not matched.
    func parent(_ lane: Int32) -> Int32? {
        let parent = runs.first.lanes[Int(lane)].key.parent
        if parent < 0 { return -1 }
        return isFree(parent, .first) ? nil : counterparts.first[Int(parent)]
    }

    /// The only lane that may correspond to a lane, by its names, -1 if it does not exist; nil if any may.
    func certain(_ lane: Int32) -> Int32? {
        var key = runs.first.lanes[Int(lane)].key
        guard !key.names.isEmpty, let parent = parent(lane) else { return nil }
        key.parent = parent
        key.names = key.names.map { renaming.counterpart(of: $0, on: .first) }
        if key.names.contains(-1) { return nil }
        guard let found = lanesByKey[key], isFree(found, .second) else { return -1 }
        return found
    }

    func mayMatch(_ lane: Int32, _ other: Int32) -> Bool {
        let (one, two) = (runs.first.lanes[Int(lane)], runs.second.lanes[Int(other)])
        return isFree(other, .second) && one.key.label == two.key.label && parent(lane) == two.key.parent
            && one.key.names.count == two.key.names.count
            && (one.process < 0 || two.process < 0 || renaming.mayMatch(one.process, two.process))
            && zip(one.key.names, two.key.names).allSatisfy { renaming.mayMatch($0, $1) }
    }

    mutating func join(_ lane: Int32, _ other: Int32) {
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

    /// True if a line of each run is of lanes that correspond.
    func isSameLane(_ lines: Pair<Int32?>) -> Bool {
        guard let first = lines.first, let second = lines.second else { return false }
        let lane = runs.first.lines[Int(first)].lane
        return counterparts.first[Int(lane)] == runs.second.lines[Int(second)].lane
    }

    // MARK: Lines

    /// The lines of a lane that are neither chance nor caused by what is removed.
    mutating func remaining(_ lane: Int32, _ side: RunSide) -> [Int32] {
        let lines = runs[side].lanes[Int(lane)].lines
        if removals.isEmpty, chance.isEmpty { return lines }
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
    func mayBeMissing(_ lane: Int32, of side: RunSide) -> Bool {
        let other = runs[side.opposite]
        guard other.isTruncated else { return false }
        let process = renaming.counterpart(of: runs[side].lanes[Int(lane)].process, on: side)
        return process < 0 || other.truncated.contains(process)
    }

    // MARK: Search

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

    mutating func addMissing(_ lines: ArraySlice<Int32>, _ side: RunSide) {
        missing[side] = ([missing[side], lines.first].compactMap(\.self)).min()
    }
}
