/// A run as it is compared: lines in lanes. The lines of a lane are in an order that another run keeps. How lanes
/// interleave is chance.
///
/// A line is an entry of a recording or a message of a log, and has its index. What two runs call by different names is
/// a token of the line; everything else is in its skeleton. Texts are compared by their hashes.
struct ComparedRun {
    /// A thread, a process, a post, an observer, or a request.
    struct Name {
        /// Only names with equal labels correspond.
        var label: Int
        /// The process of a thread.
        var owner: Int32 = -1
        /// True for the threads of a pool without order: several of one run correspond to several of the other.
        var isShared = false
    }

    enum Token {
        case name(Int32)
        /// A number in a text: equal, or an id of one of these.
        case id(Int, [Int32])
        /// The description of a thread: equal labels, and one of these; none if the label is enough.
        case thread(Int, [Int32])
        /// Any thread, beyond the end of a truncated run.
        case unknown
    }

    struct Line {
        /// Equal for lines that are the same except for their names. 0 if the line is not compared.
        var skeleton = 0
        /// Equal for lines that look alike.
        var shape = 0
        var tokens = 0..<0
        /// -1 if it is left out.
        var lane: Int32 = -1
        /// The line without which it would not be there, or -1.
        var cause: Int32 = -1
    }

    struct LaneKey: Hashable {
        /// Only lanes with equal labels correspond.
        var label: Int
        /// The lane that hands its work over, or -1.
        var parent: Int32 = -1
        /// The thread or request, and what else tells lanes apart. Empty for the work of a pool without order.
        var names: [Int32]
    }

    struct Lane {
        var key: LaneKey
        var process: Int32 = -1
        /// True if it may be that of several threads that had one id.
        var mayBeReused = false
        /// Those that are compared.
        var lines: [Int32] = []

        /// Equal for lanes of a run that only their contents tell apart.
        var family: [Int] { [key.label, Int(key.parent)] }
    }

    var names: [Name] = []
    var lines: [Line] = []
    var tokens: [Token] = []
    var lanes: [Lane] = []
    /// The processes of which lines are missing.
    var truncated: Set<Int32> = []
    var isTruncated = false
    /// True for a text log: what its lines mention may differ from what the same line mentions elsewhere.
    var isText = false

    func lane(ofLine line: Int32) -> Int32 { lines[Int(line)].lane }

    static func hash(_ values: any Hashable...) -> Int {
        var hasher = Hasher()
        for value in values { hasher.combine(value) }
        // 0 is that of a line that is not compared.
        return max(1, hasher.finalize() & .max)
    }
}

extension ComparedRun {
    private static let maximumRounds = 16

    /// A number for each lane of two runs: lanes of other numbers differ.
    ///
    /// Refines the contents of lanes as colours of a graph: a lane has the numbers of its names and of the lane that
    /// hands its work over, and a name those of the places where it occurs. Threads in texts are left out.
    static func colours(_ runs: Pair<ComparedRun>, areRefined: Bool) -> Pair<[Int]> {
        var names = runs.map { $0.names.map(\.label) }
        var (lanes, count) = (Pair<[Int]>([], []), 0)
        for _ in 0..<(areRefined ? maximumRounds : 1) {
            for side in RunSide.allCases { lanes[side] = runs[side].refine(&names[side], areRefined) }
            let found = Set(lanes.first + lanes.second).count + Set(names.first + names.second).count
            if found == count { break }
            count = found
        }
        return lanes
    }

    private func refine(_ colours: inout [Int], _ areNamed: Bool) -> [Int] {
        var (found, places) = ([Int](), Array(repeating: 0, count: names.count))
        for lane in lanes {
            var hasher = Hasher()
            hasher.combine(lane.key.label)
            if areNamed {
                hasher.combine(lane.key.parent < 0 ? 0 : found[Int(lane.key.parent)])
                for name in lane.key.names { hasher.combine(colours[Int(name)]) }
            }
            for line in lane.lines.lazy.map({ lines[Int($0)] }) {
                hasher.combine(line.skeleton)
                for case .name(let name) in tokens[line.tokens] where areNamed { hasher.combine(colours[Int(name)]) }
            }
            let colour = hasher.finalize()
            found.append(colour)
            for name in lane.key.names where !lane.lines.isEmpty { places[Int(name)] &+= colour }
            for (place, line) in lane.lines.enumerated() {
                for case (let token, .name(let name)) in tokens[lines[Int(line)].tokens].enumerated() {
                    places[Int(name)] &+= Self.hash(colour, place, token)
                }
            }
        }
        for (name, owner) in names.lazy.map(\.owner).enumerated() where owner >= 0 {
            places[Int(owner)] &+= Self.hash(colours[name], places[name])
            places[name] &+= colours[Int(owner)]
        }
        colours = names.indices.map { names[$0].isShared ? colours[$0] : Self.hash(colours[$0], places[$0]) }
        return found
    }
}

/// Which names of two runs correspond to one another: one to one.
struct Renaming {
    private let names: Pair<[ComparedRun.Name]>
    private var counterparts: Pair<[Int32]>
    /// The names of the first run that have a counterpart, in the order in which they got it.
    private(set) var matched: [Int32] = []

    init(_ runs: Pair<ComparedRun>) {
        names = runs.map(\.names)
        counterparts = names.map { Array(repeating: -1, count: $0.count) }
    }

    /// -1 if there is none.
    func counterpart(of name: Int32, on side: RunSide) -> Int32 { name < 0 ? -1 : counterparts[side][Int(name)] }

    /// True if the two correspond to each other, or may. -1 corresponds only to -1.
    func mayMatch(_ first: Int32, _ second: Int32) -> Bool {
        guard first >= 0, second >= 0 else { return first < 0 && second < 0 }
        let known = counterparts.first[Int(first)]
        if known >= 0 || counterparts.second[Int(second)] >= 0 { return known == second }
        let (name, other) = (names.first[Int(first)], names.second[Int(second)])
        return name.label == other.label && name.isShared == other.isShared
            && (name.owner < 0 || other.owner < 0 || mayMatch(name.owner, other.owner))
    }

    /// Returns false if the two cannot correspond to each other.
    mutating func match(_ first: Int32, _ second: Int32) -> Bool {
        guard mayMatch(first, second) else { return false }
        guard first >= 0, counterparts.first[Int(first)] < 0 else { return true }
        let (owner, other) = (names.first[Int(first)].owner, names.second[Int(second)].owner)
        if owner >= 0, other >= 0 { _ = match(owner, other) }
        guard !names.first[Int(first)].isShared else { return true }
        (counterparts.first[Int(first)], counterparts.second[Int(second)]) = (second, first)
        matched.append(first)
        return true
    }

    mutating func match(_ token: ComparedRun.Token, _ other: ComparedRun.Token) -> Bool {
        switch (token, other) {
        case (.name(let first), .name(let second)): return match(first, second)
        case (.id(let text, let first), .id(let otherText, let second)):
            return text == otherText || matchAny(first, second)
        case (.thread(let label, let first), .thread(let other, let second)):
            return label == other && (first.isEmpty && second.isEmpty || matchAny(first, second))
        case (.unknown, _), (_, .unknown): return true
        default: return false
        }
    }

    private mutating func matchAny(_ first: [Int32], _ second: [Int32]) -> Bool {
        first.contains { name in second.contains { match(name, $0) } }
    }

    /// Forgets all matches but the first ones.
    mutating func undo(to count: Int) {
        while matched.count > count {
            let first = Int(matched.removeLast())
            counterparts.second[Int(counterparts.first[first])] = -1
            counterparts.first[first] = -1
        }
    }
}
