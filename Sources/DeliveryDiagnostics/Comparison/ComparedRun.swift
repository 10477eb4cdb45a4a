/// A run as it is compared: lines in lanes. The lines of a lane are in an order that another run keeps. How lanes
/// interleave is chance.
///
/// A line is an entry of a recording or a message of a log, and has its index. What two runs call by different names is
/// a token of the line; everything else is in its skeleton. Texts are compared by their hashes.
struct ComparedRun {
    /// A thread, a process, a post, an observer, or a request.
    struct Name {
        /// Only names with equal labels correspond; nil corresponds to any thread.
        var label: Int?
        /// The process of a thread.
        var owner: Int32 = -1
        /// True for the threads of a pool without order: several of one run correspond to several of the other.
        var isShared = false
    }

    enum Token {
        case name(Int32)
        /// A number in a text: equal, or an id of one of these.
        case id(Int, [Int32])
        /// The description of a thread: of one of these, or else a name of its own for its number; -1 if the label is
        /// enough. Only those with equal labels correspond.
        case thread(Int, [Int32], number: Int32, isKernelID: Bool)
        /// Anything, beyond the end of a truncated run.
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

        /// Equal for lanes of a run that the names of threads do not tell apart.
        var family: [Int] { [key.label, Int(key.parent)] }
    }

    struct Delivery: Hashable {
        var post: Int32
        /// -1 in a posting queue, or for a block.
        var observer: Int32
    }

    /// The outcome of a post for an observer.
    struct Outcome {
        var delivery: Delivery
        /// The number of the notification's name, for an observer or in a posting queue.
        var topic: Int
        var isDelivered: Bool
        var isByPolicy: Bool
        var keepsLast: Bool
    }

    var names: [Name] = []
    var lines: [Line] = []
    var tokens: [Token] = []
    var lanes: [Lane] = []
    /// By line, and the lines by delivery.
    var outcomes: [Int32: Outcome] = [:]
    var outcomeOfDelivery: [Delivery: Int32] = [:]
    /// For each observer: what was appended first and last for it.
    var ends: [Int32: (first: Delivery, last: Delivery)] = [:]
    /// The processes of which lines are missing.
    var truncated: Set<Int32> = []
    var isTruncated = false
    /// True for a text log: what its lines mention may differ from what the same line mentions elsewhere.
    var isText = false

    func isCompared(_ line: Int32) -> Bool { line >= 0 && lines[Int(line)].lane >= 0 && lines[Int(line)].skeleton != 0 }

    func lane(ofLine line: Int32) -> Int32 { lines[Int(line)].lane }

    static func hash(_ values: any Hashable...) -> Int {
        var hasher = Hasher()
        for value in values { hasher.combine(value) }
        // 0 is that of a line that is not compared.
        return max(1, hasher.finalize() & .max)
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

    func counterpart(of delivery: ComparedRun.Delivery, on side: RunSide) -> ComparedRun.Delivery {
        .init(post: counterpart(of: delivery.post, on: side), observer: counterpart(of: delivery.observer, on: side))
    }

    /// True if the two correspond to each other, or may. -1 corresponds only to -1.
    func mayMatch(_ first: Int32, _ second: Int32) -> Bool {
        guard first >= 0, second >= 0 else { return first < 0 && second < 0 }
        let known = counterparts.first[Int(first)]
        if known >= 0 || counterparts.second[Int(second)] >= 0 { return known == second }
        let (name, other) = (names.first[Int(first)], names.second[Int(second)])
        return (name.label == other.label || name.label == nil || other.label == nil) && name.isShared == other.isShared
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
        case (
            .thread(let label, let first, let number, let isID),
            .thread(let other, let second, let match, let isOtherID)
        ):
            guard label == other else { return false }
            return isID == isOtherID && !(first.isEmpty && second.isEmpty)
                ? matchAny(first, second) : self.match(number, match)
        case (.unknown, .thread), (.thread, .unknown), (.unknown, .unknown): return true
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
