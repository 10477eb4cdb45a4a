/// Matches the lanes of two runs one to one, and finds the lines without a counterpart.
///
/// First, equal lanes are matched, each with the lanes that then have a certain counterpart. Of several that may
/// correspond to a lane, the first is taken: lanes that do the same, and hand over work that does the same, are
/// interchangeable in almost all programs. The rest are matched with the most similar ones, and their lines aligned.
struct LaneMatching {
    /// Lines that differ, or a line of one run only.
    struct Difference {
        var lines: [Int?]
        /// Where the runs differ: the next line of the lane in each run.
        var next: [Int?]
        /// True if the same line is elsewhere in the other run.
        var isMoved = false
    }

    let runs: [ComparedRun]
    var renaming: Renaming
    /// For each lane: its counterpart, or one that it is compared with.
    var counterparts: [[Int]]
    var differences: [Difference] = []
    /// True if several lanes of a run, one after the other, are equal to fewer of the other.
    private(set) var hasReusedID = false
    /// The number of lines that are the same.
    var matched = 0
    /// The lines that differ, or are caused by such lines.
    var isRemoved: [[Bool]]

    /// True if another choice of equal lanes may have made the runs the same.
    private var hasChoice = false
    private let lanesByKey: [ComparedRun.LaneKey: Int]
    /// For each lane of the first run, and for each name: the lanes that it determines.
    private var children: [[Int]]
    private var lanesOfName: [[Int]]

    static let maximumCandidates = 64

    init(_ runs: [ComparedRun]) {
        (self.runs, renaming) = (runs, Renaming(runs))
        counterparts = runs.map { Array(repeating: -1, count: $0.lanes.count) }
        isRemoved = runs.map { Array(repeating: false, count: $0.lines.count) }
        lanesByKey = Dictionary(runs[1].lanes.enumerated().map { ($1.key, $0) }) { one, _ in one }
        children = Array(repeating: [], count: runs[0].lanes.count)
        lanesOfName = Array(repeating: [], count: runs[0].names.count)
        for (number, lane) in runs[0].lanes.enumerated() {
            if lane.key.parent >= 0 { children[lane.key.parent].append(number) }
            for name in lane.key.names { lanesOfName[name].append(number) }
        }
        for haveChildren in [true, false] { matchEqualLanes(runs.map { $0.contents(haveChildren: haveChildren) }) }
        matchReusedThreads()
        alignOthers()
        findMoved()
        differences = differences.map { (position($0), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// True if lanes do the same, so that another choice may have made the runs the same.
    var isUndecided: Bool {
        guard hasChoice, !differences.isEmpty else { return false }
        // Lanes in which nothing is compared exist by chance.
        let all = runs.indices.map { side in
            zip(runs[side].contents(haveChildren: true), runs[side].lanes).filter { !$1.lines.isEmpty }.map(\.0)
                .sorted()
        }
        return all[0] == all[1]
    }

    // MARK: Lanes

    func lines(_ lane: Int, _ side: Int) -> [Int] { runs[side].lanes[lane].lines }

    func isFree(_ lane: Int, _ side: Int) -> Bool { counterparts[side][lane] < 0 }

    /// The parent of a lane in the other run, -1 if it has none; nil if it is not matched.
    private func parent(_ lane: Int) -> Int? {
        let parent = runs[0].lanes[lane].key.parent
        if parent < 0 { return -1 }
        return isFree(parent, 0) ? nil : counterparts[0][parent]
    }

    /// The only lane that may correspond to a lane, by its names, -1 if it does not exist; nil if any may.
    func certain(_ lane: Int) -> Int? {
        var key = runs[0].lanes[lane].key
        guard !key.names.isEmpty, let parent = parent(lane) else { return nil }
        key.parent = parent
        key.names = key.names.map { renaming.counterpart(of: $0) }
        if key.names.contains(-1) { return nil }
        guard let found = lanesByKey[key], isFree(found, 1) else { return -1 }
        return found
    }

    private func mayMatch(_ lane: Int, _ other: Int) -> Bool {
        let (one, two) = (runs[0].lanes[lane].key, runs[1].lanes[other].key)
        return isFree(other, 1) && one.label == two.label && parent(lane) == two.parent
            && one.names.count == two.names.count && zip(one.names, two.names).allSatisfy(renaming.mayMatch)
    }

    /// The free lanes of the second run that may correspond to a lane, of those with a number.
    func candidates(_ lane: Int, _ number: Int, _ all: inout [Int: [Int]]) -> [Int] {
        if let other = certain(lane) { return other < 0 ? [] : [other] }
        guard parent(lane) != nil else { return [] }
        while let last = all[number]?.last, !isFree(last, 1) { all[number]?.removeLast() }
        return Array((all[number] ?? []).reversed().lazy.filter { mayMatch(lane, $0) }.prefix(Self.maximumCandidates))
    }

    mutating func join(_ lane: Int, _ other: Int) {
        (counterparts[0][lane], counterparts[1][other]) = (other, lane)
        for (name, counterpart) in zip(runs[0].lanes[lane].key.names, runs[1].lanes[other].key.names) {
            renaming.match(name, counterpart)
        }
    }

    // MARK: Equal lanes

    /// - Parameter numbers: equal for lanes that may be equal.
    private mutating func matchEqualLanes(_ numbers: [[Int]]) {
        // The last is the first to be tried.
        var all = Dictionary(grouping: runs[1].lanes.indices.reversed()) { numbers[1][$0] }
        for lane in runs[0].lanes.indices {
            var rest = [lane]
            while let next = rest.popLast() {
                let isCertain = certain(next) != nil
                guard isFree(next, 0), next == lane || isCertain else { continue }
                let known = renaming.matched.count
                let found = candidates(next, numbers[0][next], &all)
                guard found.contains(where: { settle([next], [$0]) }) else { continue }
                hasChoice = hasChoice || !isCertain && found.count > 1 && !runs[0].lanes[next].key.names.isEmpty
                rest += children[next] + renaming.matched[known...].flatMap { lanesOfName[$0] }
            }
        }
    }

    /// Matches lanes with others if they are equal, one after the other.
    private mutating func settle(_ lanes: [Int], _ others: [Int]) -> Bool {
        let (known, count) = (renaming.matched.count, matched)
        if lanes.count == others.count { join(lanes[0], others[0]) }
        let both = [lanes.flatMap { lines($0, 0) }, others.flatMap { lines($0, 1) }]
        guard both[0].count == both[1].count, zip(both[0], both[1]).allSatisfy({ match($0, $1) }) else {
            renaming.undo(to: known)
            for (side, all) in [lanes, others].enumerated() { for lane in all { counterparts[side][lane] = -1 } }
            matched = count
            return false
        }
        for lane in lanes { counterparts[0][lane] = others[0] }
        for lane in others { counterparts[1][lane] = lanes[0] }
        return true
    }

    /// The id of a thread that has ended may be that of a later one: its lane is that of several threads. The main
    /// thread of a log, which writes first, does not end before others.
    private mutating func matchReusedThreads() {
        let free = runs.indices.map { side in
            let all = runs[side].lanes.indices.dropFirst()
            return Dictionary(grouping: all.filter { runs[side].lanes[$0].mayBeReused && isFree($0, side) }) {
                runs[side].lanes[$0].key.label
            }
        }
        for (label, first) in free[0].sorted(by: { $0.value[0] < $1.value[0] }) {
            guard let second = free[1][label], first.count != second.count else { continue }
            let side = first.count > second.count ? 0 : 1
            let lines = [first, second][side].flatMap { self.lines($0, side) }
            // One after the other in the run with more threads.
            guard zip(lines, lines.dropFirst()).allSatisfy(<), settle(first, second) else { continue }
            hasReusedID = true
        }
    }

    /// Matches two lines and the names in them if they are the same.
    mutating func match(_ first: Int, _ second: Int) -> Bool {
        let (line, other) = (runs[0].lines[first], runs[1].lines[second])
        guard line.skeleton == other.skeleton, line.tokens.count == other.tokens.count else { return false }
        let count = renaming.matched.count
        for (token, otherToken) in zip(line.tokens, other.tokens)
        where !renaming.match(runs[0].tokens[token], runs[1].tokens[otherToken]) {
            renaming.undo(to: count)
            return false
        }
        matched += 1
        return true
    }
}
