/// Matches the lanes of two runs one to one, and finds the lines without a counterpart.
///
/// First, equal lanes are matched, each with the lanes that then have a certain counterpart. Of several that may
/// correspond to a lane, the first one that does is taken: lanes of one colour (see `ComparedRun.colours`) are
/// interchangeable in almost all programs. The rest are matched with the most similar ones, and their lines aligned.
struct LaneMatching {
    /// Lines that differ, or a line of one run only.
    struct Difference {
        var lines: Pair<Int32?>
        /// Where the runs differ: the next line of the lane in each run.
        var next: Pair<Int32?>
        /// True if the same line is elsewhere in the other run.
        var isMoved = false
    }

    let runs: Pair<ComparedRun>
    let isTruncated: Bool
    var renaming: Renaming
    /// For each lane: its counterpart, or one that it is compared with; -1 if there is none.
    var counterparts: Pair<[Int32]>
    var differences: [Difference] = []
    /// Lanes of each run that do the same, one after the other, and are not equally many.
    var reuses: [Pair<[Int32]>] = []
    /// The number of lines that are the same.
    var matched = 0
    /// The first lines that only one run has because the other is truncated.
    var missing = Pair<Int32?>(nil, nil)
    /// The lines that differ, or are caused by such lines.
    var isRemoved: Pair<[Bool]>

    /// True if another choice of equal lanes may have made the runs the same.
    private var hasChoice = false
    private let colours: Pair<[Int]>
    private let lanesByKey: [ComparedRun.LaneKey: Int32]
    /// For each lane of the first run, and for each name: the lanes that it determines.
    private var children: [[Int32]]
    private var lanesOfName: [[Int32]]
    /// The number of lanes of each run that only their contents tell apart.
    private let families: Pair<[[Int]: Int]>

    static let maximumCandidates = 64

    init(_ runs: Pair<ComparedRun>) {
        (self.runs, renaming) = (runs, Renaming(runs))
        counterparts = runs.map { Array(repeating: -1, count: $0.lanes.count) }
        isRemoved = runs.map { Array(repeating: false, count: $0.lines.count) }
        lanesByKey = Dictionary(runs.second.lanes.enumerated().map { ($1.key, Int32($0)) }) { one, _ in one }
        families = runs.map { $0.lanes.reduce(into: [:]) { $0[$1.family, default: 0] += 1 } }
        children = Array(repeating: [], count: runs.first.lanes.count)
        lanesOfName = Array(repeating: [], count: runs.first.names.count)
        for (number, lane) in zip(Int32(0)..., runs.first.lanes) {
            if lane.key.parent >= 0 { children[Int(lane.key.parent)].append(number) }
            for name in lane.key.names { lanesOfName[Int(name)].append(number) }
        }
        isTruncated = runs.first.isTruncated || runs.second.isTruncated
        colours = isTruncated ? Pair([], []) : ComparedRun.colours(runs, areRefined: true)
        if !isTruncated {
            matchEqualLanes(colours)
            matchEqualLanes(ComparedRun.colours(runs, areRefined: false))
            matchReusedThreads()
        }
        alignOthers()
        findMoved()
        differences = differences.map { (position($0), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// True if lanes do the same, so that another choice may have made the runs the same.
    var isUndecided: Bool {
        guard hasChoice, !differences.isEmpty else { return false }
        // Lanes in which nothing is compared exist by chance.
        let all = RunSide.allCases.map { side in
            zip(colours[side], runs[side].lanes).filter { !$1.lines.isEmpty }.map(\.0).sorted()
        }
        return all[0] == all[1]
    }

    // MARK: Lanes

    var lanes: Range<Int32> { 0..<Int32(runs.first.lanes.count) }

    func lane(_ lane: Int32, _ side: RunSide) -> ComparedRun.Lane { runs[side].lanes[Int(lane)] }

    func isFree(_ lane: Int32, _ side: RunSide) -> Bool { counterparts[side][Int(lane)] < 0 }

    /// True if a line of each run is of lanes that correspond.
    func isSameLane(_ lines: Pair<Int32?>) -> Bool {
        guard let first = lines.first, let second = lines.second else { return false }
        return counterparts.first[Int(runs.first.lane(ofLine: first))] == runs.second.lane(ofLine: second)
    }

    /// The parent of a lane in the other run, -1 if it has none; nil if it is not matched.
    private func parent(_ lane: Int32) -> Int32? {
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

    /// The free lanes of the second run that may correspond to a lane, of those with a number.
    func candidates(_ lane: Int32, _ number: Int, _ all: inout [Int: [Int32]]) -> [Int32] {
        if let other = certain(lane) { return other < 0 ? [] : [other] }
        guard parent(lane) != nil else { return [] }
        while let last = all[number]?.last, !isFree(last, .second) { all[number]?.removeLast() }
        return Array((all[number] ?? []).reversed().lazy.filter { mayMatch(lane, $0) }.prefix(Self.maximumCandidates))
    }

    mutating func join(_ lane: Int32, _ other: Int32) {
        (counterparts.first[Int(lane)], counterparts.second[Int(other)]) = (other, lane)
        let (one, two) = (self.lane(lane, .first), self.lane(other, .second))
        if one.process >= 0, two.process >= 0 { _ = renaming.match(one.process, two.process) }
        for (name, counterpart) in zip(one.key.names, two.key.names) { _ = renaming.match(name, counterpart) }
    }

    // MARK: Equal lanes

    /// - Parameter numbers: equal for lanes that may be equal.
    private mutating func matchEqualLanes(_ numbers: Pair<[Int]>) {
        // The last is the first to be tried.
        let others = runs.second.lanes.indices.reversed().map(Int32.init)
        var all = Dictionary(grouping: others) { numbers.second[Int($0)] }
        for lane in lanes {
            var rest = [lane]
            while let next = rest.popLast() {
                let isCertain = certain(next) != nil
                guard isFree(next, .first), next == lane || isCertain else { continue }
                let known = renaming.matched.count
                let found = candidates(next, numbers.first[Int(next)], &all)
                guard found.contains(where: { settle(next, $0) }) else { continue }
                hasChoice = hasChoice || !isCertain && found.count > 1 && !self.lane(next, .first).key.names.isEmpty
                rest += children[Int(next)] + renaming.matched[known...].flatMap { lanesOfName[Int($0)] }
            }
        }
    }

    /// Matches a lane with another one if they are equal.
    private mutating func settle(_ lane: Int32, _ other: Int32) -> Bool {
        let (known, count) = (renaming.matched.count, matched)
        join(lane, other)
        let (lines, others) = (self.lane(lane, .first).lines, self.lane(other, .second).lines)
        guard lines.count == others.count, zip(lines, others).allSatisfy({ match($0, $1) }) else {
            renaming.undo(to: known)
            (counterparts.first[Int(lane)], counterparts.second[Int(other)], matched) = (-1, -1, count)
            return false
        }
        return true
    }

    /// True if no other lane may be meant. Without the rest of a truncated run, several cannot be told apart.
    func isOnly(_ lane: Int32, _ side: RunSide) -> Bool {
        let lane = self.lane(lane, side)
        let parent = lane.key.parent < 0 ? -1 : counterparts[side][Int(lane.key.parent)]
        return (parent >= 0) == (lane.key.parent >= 0) && families[side][lane.family, default: 0] <= 1
            && families[side.opposite][[lane.key.label, Int(parent)], default: 0] <= 1
    }

    // MARK: Lines

    /// True if the other run may lack lines of a lane because it is truncated.
    func mayBeMissing(_ lane: Int32, of side: RunSide) -> Bool {
        let other = runs[side.opposite]
        guard other.isTruncated else { return false }
        let process = renaming.counterpart(of: self.lane(lane, side).process, on: side)
        return process < 0 || other.truncated.contains(process)
    }

    mutating func addMissing(_ lines: ArraySlice<Int32>, _ side: RunSide) {
        missing[side] = [missing[side], lines.first].compactMap(\.self).min()
    }

    /// Matches two lines and the names in them if they are the same.
    mutating func match(_ first: Int32, _ second: Int32) -> Bool {
        let (line, other) = (runs.first.lines[Int(first)], runs.second.lines[Int(second)])
        guard line.skeleton == other.skeleton, line.tokens.count == other.tokens.count else { return false }
        let count = renaming.matched.count
        for (token, otherToken) in zip(line.tokens, other.tokens)
        where !renaming.match(runs.first.tokens[token], runs.second.tokens[otherToken]) {
            renaming.undo(to: count)
            return false
        }
        matched += 1
        return true
    }
}
