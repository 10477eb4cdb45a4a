/// Matches the lanes of two logs, and finds the lines that have no counterpart.
struct LogMatching {
    /// Messages that differ, or a message of one log only.
    struct Difference {
        var messages: Pair<Int?>
        /// True if another thread of the other log writes the line.
        var isMoved = false
    }

    private(set) var correspondence: LogCorrespondence
    let lanes: Pair<[LogLane]>
    /// For each message.
    let laneOfMessage: Pair<[Int]>
    /// For each lane: its counterpart, or one that it is compared with.
    private(set) var counterparts: Pair<[Int?]>
    private(set) var differences: [Difference] = []
    private(set) var reuses: [LogComparison.Reuse] = []
    /// True if lanes do the same, so that another choice may have made the logs the same.
    private(set) var isUndecided = false

    private var hasChoice = false

    /// If one log has lines that the other does not have, the next common line is sought that far.
    private static let longestGap = 64
    private static let maximumDifferences = 10_000
    private static let maximumCandidates = 64
    private static let maximumReused = 1000

    var logs: Pair<TextLog> { correspondence.logs }
    var identities: LogIdentities { correspondence.identities }
    var isExact: Bool { correspondence.isExact }

    init(_ logs: Pair<TextLog>, _ identities: LogIdentities, isExact: Bool) {
        correspondence = LogCorrespondence(logs, identities, isExact: isExact)
        var lanes = Pair<[LogLane]>([], [])
        for side in RunSide.allCases {
            lanes[side] =
                isExact
                ? [LogLane(group: "", messages: Array(logs[side].messages.indices))]
                : identities.lanes(of: logs[side], side)
        }
        self.lanes = lanes
        laneOfMessage = Pair(
            Self.laneOfMessage(lanes.first, logs.first), Self.laneOfMessage(lanes.second, logs.second))
        counterparts = lanes.map { Array(repeating: nil, count: $0.count) }
    }

    private static func laneOfMessage(_ lanes: [LogLane], _ log: TextLog) -> [Int] {
        var lane = Array(repeating: 0, count: log.messages.count)
        for (number, messages) in lanes.enumerated() { for index in messages.messages { lane[index] = number } }
        return lane
    }

    mutating func run() {
        let colours = isExact ? lanes.map { Array(repeating: 0, count: $0.count) } : colours()
        if !isExact {
            matchEqualLanes(colours)
            matchReusedThreads()
        }
        pairOthers()
        if differences.count <= Self.maximumDifferences { addUnmatched() }
        findMoved()
        differences.sort { [logs] in Self.position($0, logs) < Self.position($1, logs) }
        isUndecided = hasChoice && !differences.isEmpty && colours.first.sorted() == colours.second.sorted()
    }

    private mutating func addUnmatched() {
        for (first, second) in counterparts.first.enumerated() where second == nil {
            differences += lanes.first[first].messages.map { Difference(messages: Pair($0, nil)) }
        }
        for (second, first) in counterparts.second.enumerated() where first == nil {
            differences += lanes.second[second].messages.map { Difference(messages: Pair(nil, $0)) }
        }
    }

    private static func position(_ difference: Difference, _ logs: Pair<TextLog>) -> Int {
        if let first = difference.messages.first { return 2 * logs.first.messages[first].line }
        return 2 * (difference.messages.second.map { logs.second.messages[$0].line } ?? 0) + 1
    }

    // MARK: Lanes

    /// Matches equal lanes. A lane takes the first one that is equal: of those with equal numbers, else of those with
    /// numbers of threads that do the same, else of all.
    private mutating func matchEqualLanes(_ colours: Pair<[Int]>) {
        func keys(_ lane: Int, _ side: RunSide) -> [Int] {
            let messages = lanes[side][lane].messages
            let words = Self.hash(lanes[side][lane].group, messages.map { correspondence.skeletons[side][$0] })
            return [Self.hash(words, messages.map { correspondence.tokens[side][$0] }), colours[side][lane], words]
        }
        var candidates: [Int: [Int]] = [:]
        for lane in lanes.second.indices.reversed() {
            let keys = keys(lane, .second)
            if lanes.second[lane].name != nil, candidates[keys[2]] != nil { hasChoice = true }
            for key in Set(keys) { candidates[key, default: []].append(lane) }
        }
        for lane in lanes.first.indices {
            search: for key in keys(lane, .first) {
                while let last = candidates[key]?.last, counterparts.second[last] != nil {
                    candidates[key]?.removeLast()
                }
                for other in (candidates[key] ?? []).suffix(Self.maximumCandidates).reversed()
                where counterparts.second[other] == nil && correspondence.match(lanes.first[lane], lanes.second[other])
                {
                    join(lane, other)
                    break search
                }
            }
        }
    }

    private static func hash(_ one: some Hashable, _ other: some Hashable) -> Int {
        var hasher = Hasher()
        hasher.combine(one)
        hasher.combine(other)
        return hasher.finalize()
    }

    private mutating func join(_ first: Int, _ second: Int) {
        (counterparts.first[first], counterparts.second[second]) = (second, first)
    }

    /// For each lane a number: equal for lanes that may correspond. It is refined by the colours of the threads that the
    /// messages mention.
    private func colours() -> Pair<[Int]> {
        var colours = Pair<[Int]>([], [])
        for side in RunSide.allCases {
            colours[side] = lanes[side].map { lane in
                var hasher = Hasher()
                hasher.combine(lane.group)
                for message in lane.messages { hasher.combine(correspondence.skeletons[side][message]) }
                return hasher.finalize()
            }
            guard correspondence.tokens[side].contains(where: { !$0.isEmpty }) else { continue }
            var laneOfWriter: [Int: Int] = [:]
            for (number, lane) in lanes[side].enumerated() {
                if case .thread(let writer)? = lane.name { laneOfWriter[writer] = number }
            }
            for _ in 1...4 {
                colours[side] = lanes[side].indices.map { number in
                    var hasher = Hasher()
                    hasher.combine(colours[side][number])
                    for token in lanes[side][number].messages.lazy.flatMap({ correspondence.tokens[side][$0] }) {
                        switch token {
                        case .id(let id):
                            let mentioned = (correspondence.writersOfID[side][id] ?? []).compactMap { laneOfWriter[$0] }
                            hasher.combine(mentioned.reduce(0) { $0 &+ colours[side][$1] })
                        case .thread(_, let group, let isMain):
                            hasher.combine(group)
                            hasher.combine(isMain)
                        }
                    }
                    return hasher.finalize()
                }
            }
        }
        return colours
    }

    /// The id of a thread that has ended may be that of a later one: its lane is that of two threads. The main thread of
    /// a log, which writes first, does not end before others.
    private mutating func matchReusedThreads() {
        let unmatched = RunSide.allCases.map { side in lanes[side].indices.filter { mayBeReused($0, side) } }
        guard unmatched.allSatisfy({ $0.count <= Self.maximumReused }) else { return }
        for side in RunSide.allCases {
            let other = side.opposite
            for lane in lanes[side].indices where mayBeReused(lane, side) {
                let messages = lanes[side][lane].messages
                var (parts, position, mark) = ([Int](), 0, correspondence.mark)
                for part in lanes[other].indices
                where mayBeReused(part, other) && lanes[other][part].group == lanes[side][lane].group {
                    let part = (number: part, messages: lanes[other][part].messages)
                    let end = parts.last.flatMap { lanes[other][$0].messages.last } ?? -1
                    guard part.messages[0] > end, position + part.messages.count <= messages.count else { continue }
                    let pairs = zip(messages[position...], part.messages).map { side == .first ? ($0, $1) : ($1, $0) }
                    guard pairs.allSatisfy({ correspondence.match($0, $1) }) else { continue }
                    parts.append(part.number)
                    position += part.messages.count
                }
                guard position == messages.count, parts.count > 1 else {
                    correspondence.undo(to: mark)
                    continue
                }
                mark = correspondence.mark
                counterparts[side][lane] = parts[0]
                for part in parts { counterparts[other][part] = lane }
                reuses.append(
                    LogComparison.Reuse(
                        side: side, line: logs[side].messages[messages[0]].line,
                        others: parts.map { logs[other].messages[lanes[other][$0].messages[0]].line }))
            }
        }
    }

    private func mayBeReused(_ lane: Int, _ side: RunSide) -> Bool {
        guard lane > 0, counterparts[side][lane] == nil, case .thread(let writer)? = lanes[side][lane].name else {
            return false
        }
        let identity = logs[side].writers[writer]
        return identity.id != nil && identity.id != identity.process
    }

    // MARK: Differences

    /// Pairs the lanes without a counterpart with the most similar ones of their group, and compares their lines.
    private mutating func pairOthers() {
        func others(_ side: RunSide) -> [Int] { lanes[side].indices.filter { counterparts[side][$0] == nil } }
        let (first, second) = (others(.first), Dictionary(grouping: others(.second)) { lanes.second[$0].group })
        // For each group: the number of lanes at the beginning that have a counterpart.
        var starts: [String: Int] = [:]
        var shapes = Pair<[Int: [Int: Int]]>([:], [:])
        for side in RunSide.allCases {
            for lane in others(side) {
                shapes[side][lane] = lanes[side][lane].messages.reduce(into: [:]) { counts, message in
                    counts[shape(of: message, side), default: 0] += 1
                    counts[correspondence.skeletons[side][message], default: 0] += 1
                }
            }
        }
        func similarity(_ one: Int, _ other: Int) -> Int {
            (shapes.first[one] ?? [:]).reduce(0) { $0 + min($1.value, shapes.second[other]?[$1.key] ?? 0) }
        }
        for isSimilar in [true, false] {
            for lane in first where counterparts.first[lane] == nil {
                let (group, all) = (lanes.first[lane].group, second[lanes.first[lane].group] ?? [])
                let start = all[starts[group, default: 0]...].firstIndex { counterparts.second[$0] == nil } ?? all.count
                starts[group] = start
                let candidates = Array(
                    all[start...].lazy.filter { [counterparts] in counterparts.second[$0] == nil }
                        .prefix(Self.maximumCandidates))
                let scores = candidates.map { similarity(lane, $0) }
                guard let best = scores.max(), best > 0 || !isSimilar,
                    let found = scores.firstIndex(of: best).map({ candidates[$0] })
                else { continue }
                join(lane, found)
                compare(lane, found)
                if differences.count > Self.maximumDifferences { return }
            }
        }
    }

    /// A number for the text without its digits.
    private func shape(of message: Int, _ side: RunSide) -> Int {
        logs[side].messages[message].text.filter { !$0.isNumber }.hashValue
    }

    private mutating func compare(_ lane: Int, _ other: Int) {
        let messages = Pair(lanes.first[lane].messages, lanes.second[other].messages)
        let isNamed = isExact || correspondence.matchNames(lanes.first[lane], lanes.second[other])
        let found = differences.count
        defer {
            // All messages are the same, but others mention the thread of the lane as another one.
            if !isNamed, differences.count == found {
                differences.append(Difference(messages: Pair(messages.first[0], messages.second[0])))
            }
        }
        var (first, second) = (0, 0)
        while first < messages.first.count, second < messages.second.count {
            if correspondence.match(messages.first[first], messages.second[second]) {
                (first, second) = (first + 1, second + 1)
                continue
            }
            let (gap, otherGap) = gap(messages, first, second)
            for offset in 0..<max(gap, otherGap) {
                differences.append(
                    Difference(
                        messages: Pair(
                            offset < gap ? messages.first[first + offset] : nil,
                            offset < otherGap ? messages.second[second + offset] : nil)))
            }
            (first, second) = (first + gap, second + otherGap)
            if differences.count > Self.maximumDifferences { return }
        }
        differences += messages.first[first...].map { Difference(messages: Pair($0, nil)) }
        differences += messages.second[second...].map { Difference(messages: Pair(nil, $0)) }
    }

    /// The number of lines of each that are left out before the next equal line.
    private mutating func gap(_ messages: Pair<[Int]>, _ first: Int, _ second: Int) -> (Int, Int) {
        let rest = (messages.first.count - first, messages.second.count - second)
        for sum in 1...Self.longestGap {
            // As many lines of each, if possible: lines were changed.
            for gap in (0...sum).sorted(by: { abs(2 * $0 - sum) < abs(2 * $1 - sum) })
            where gap < rest.0 && sum - gap < rest.1 {
                if correspondence.match(messages.first[first + gap], messages.second[second + sum - gap]) {
                    return (gap, sum - gap)
                }
            }
        }
        return (1, 1)
    }

    /// Joins a line of one log only with the same line of another thread in the other.
    private mutating func findMoved() {
        var others: [Int: [Int]] = [:]
        for (number, difference) in differences.enumerated().reversed() {
            guard difference.messages.first == nil, let second = difference.messages.second else { continue }
            others[correspondence.skeletons.second[second], default: []].append(number)
        }
        var removed: Set<Int> = []
        for (number, difference) in differences.enumerated() {
            guard difference.messages.second == nil, let first = difference.messages.first,
                let other = others[correspondence.skeletons.first[first]]?.popLast()
            else { continue }
            differences[number] = Difference(messages: Pair(first, differences[other].messages.second), isMoved: true)
            removed.insert(other)
        }
        differences = differences.enumerated().filter { !removed.contains($0.offset) }.map(\.element)
    }
}
