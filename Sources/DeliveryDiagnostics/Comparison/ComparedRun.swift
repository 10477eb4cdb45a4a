/// A run as it is compared: lines in lanes. The lines of a lane are in an order that another run keeps. How lanes
/// interleave is chance.
///
/// A line is an entry of a recording or a message of a log, and has its index. What two runs call by different names is
/// a token of the line; everything else is in its skeleton. Texts are compared by their hashes. Lanes, lines and names
/// are indices; -1 means none.
struct ComparedRun {
    /// A thread, a process, a post, an observer, or a request.
    struct Name {
        /// Only names with equal labels correspond.
        var label: Int
        /// The process of a thread.
        var owner = -1
        /// True for the threads of a pool without order: several of one run correspond to several of the other.
        var isShared = false
    }

    enum Token {
        /// Equal in both runs.
        case value(Int)
        case name(Int)
        /// A number in a text: equal, or an id of one of these.
        case id(Int, [Int])
    }

    /// What is compared of a line, with the reason of a difference.
    typealias Part = (reason: RunDifference.Reason, token: Token)

    struct Line {
        /// Equal for lines that are the same except for their names. 0 if the line is not compared.
        var skeleton = 0
        /// Equal for lines that look alike.
        var shape = 0
        var tokens = 0..<0
        var lane = -1
        /// The line without which it would not be there.
        var cause = -1
    }

    struct LaneKey: Hashable {
        /// Only lanes with equal labels correspond.
        var label: Int
        /// The lane that hands its work over.
        var parent = -1
        /// The thread or request, and what else tells lanes apart. Empty for the work of a pool without order.
        var names: [Int]
    }

    struct Lane {
        var key: LaneKey
        /// True if it may be that of several threads that had one id.
        var mayBeReused = false
        /// Those that are compared.
        var lines: [Int] = []
    }

    var names: [Name] = []
    var lines: [Line]
    private(set) var tokens: [Token] = []
    var lanes: [Lane] = []
    /// True for a text log: what its lines mention may differ from what the same line mentions elsewhere.
    var isText = false
    private var lanesOfKeys: [LaneKey: Int] = [:]

    init(lineCount: Int) { lines = Array(repeating: Line(), count: lineCount) }

    /// The lane with a key. Each work of a pool without order is a lane of its own.
    mutating func lane(_ key: LaneKey) -> Int {
        if let known = lanesOfKeys[key], !key.names.isEmpty { return known }
        lanesOfKeys[key] = lanes.count
        lanes.append(Lane(key: key))
        return lanes.count - 1
    }

    mutating func setLine(_ number: Int, _ parts: [Part], shape: Int, lane: Int, cause: Int = -1) {
        let start = tokens.count
        var hasher = Hasher()
        for (reason, token) in parts {
            if case .value(let value) = token {
                hasher.combine(value)
            } else {
                hasher.combine(reason)
                tokens.append(token)
            }
        }
        lines[number] = Line(
            skeleton: hasher.finalize() | 1, shape: shape, tokens: start..<tokens.count, lane: lane, cause: cause)
        lanes[lane].lines.append(number)
    }

    static func hash(_ values: any Hashable...) -> Int {
        var hasher = Hasher()
        for value in values { hasher.combine(value) }
        return hasher.finalize()
    }
}

extension ComparedRun {
    /// A number for each lane: lanes with other numbers differ.
    ///
    /// - Parameter haveChildren: whether a lane has the contents of those that it hands work to, too.
    func contents(haveChildren: Bool) -> [Int] {
        var (numbers, children) = (lanes.map(\.key.label), Array(repeating: 0, count: lanes.count))
        // A lane comes after the one that hands its work over.
        for (number, lane) in lanes.enumerated().reversed() {
            var hasher = Hasher()
            hasher.combine(lane.key.label)
            for line in lane.lines { hasher.combine(lines[line].skeleton) }
            if haveChildren { hasher.combine(children[number]) }
            numbers[number] = hasher.finalize()
            if lane.key.parent >= 0, !lane.lines.isEmpty { children[lane.key.parent] &+= numbers[number] }
        }
        return numbers
    }
}
