internal import DeliveryRecording

/// Colours threads by their records: threads that correspond to each other have the same colour in both runs.
///
/// A colour is refined by the colours of the threads that a thread hands something to or receives something from, until
/// no further threads can be distinguished (the Weisfeiler-Leman algorithm). Threads of different colours cannot match.
/// Threads of the same colour may match; only the comparison decides.
struct ThreadColours {
    private var colours: Pair<[UInt64]>
    /// True if both runs have equally many threads of each colour. If not, the runs differ.
    private(set) var areEqual = false
    /// The threads of the first run that are matched by their colours alone.
    private(set) var individuals: Set<Int32> = []
    private let keys: Pair<[Int32]>
    private let chains: Pair<CausalChains>
    /// Nil if colours are not refined.
    private let labels: Pair<RecordLabels>?
    /// The threads of the second run, in the order of their first records.
    private var byColour: [UInt64: [Int32]] = [:]
    private let byKey: [Int32: [Int32]]

    /// Only long rows of similar threads need more rounds.
    private static let maximumRounds = 32

    /// - Parameter areRefined: whether to refine the colours. If not, a thread's colour is its name, and `areEqual` is
    ///   false.
    init(_ runs: Pair<ComparedRun>, areRefined: Bool) {
        (keys, chains) = (runs.map(\.threadKeys), runs.map(\.chains))
        colours = keys.map { $0.map { RecordLabels.mix(0x51, UInt64(bitPattern: Int64($0))) } }
        let areDistinct = RunSide.allCases.allSatisfy { [keys] in Set(keys[$0]).count == keys[$0].count }
        labels = areRefined && !areDistinct ? runs.map { RecordLabels($0) } : nil
        byKey = Dictionary(grouping: chains.second.activeThreads) { [keys] in keys.second[Int($0)] }
        if areRefined { refine() }
        noteColours()
    }

    /// The colours if one thread is matched with another.
    func individualised(_ thread: Int32, _ counterpart: Int32) -> ThreadColours {
        var result = self
        result.colours.first[Int(thread)] = RecordLabels.mix(colours.first[Int(thread)], 1)
        result.colours.second[Int(counterpart)] = result.colours.first[Int(thread)]
        result.individuals.insert(thread)
        if areEqual { result.refine() }
        result.noteColours()
        return result
    }

    func colour(of thread: Int32) -> UInt64 { colours.first[Int(thread)] }

    /// The threads of the second run that may match one of the first: those of the same colour. If there are none, and
    /// the runs are not known to have equal colours, those of the same name.
    func candidates(of thread: Int32) -> [Int32] {
        byColour[colour(of: thread)] ?? (areEqual ? [] : namesakes(of: thread))
    }

    func namesakes(of thread: Int32) -> [Int32] { byKey[keys.first[Int(thread)]] ?? [] }

    func mayMatch(_ thread: Int32, _ counterpart: Int32) -> Bool {
        keys.first[Int(thread)] == keys.second[Int(counterpart)]
            && (!areEqual || colours.first[Int(thread)] == colours.second[Int(counterpart)])
    }

    private mutating func noteColours() {
        byColour = Dictionary(grouping: chains.second.activeThreads) { colours.second[Int($0)] }
    }

    private mutating func refine() {
        var classes = 0
        for _ in 0..<(labels == nil ? 0 : Self.maximumRounds) {
            let found = Set(colours.first).union(colours.second).count
            guard found > classes, let labels else { break }
            classes = found
            for side in RunSide.allCases { colours[side] = labels[side].refine(colours[side]) }
        }
        // Threads without compared records are not counted: whether they exist is chance.
        let counts = RunSide.allCases.map { side in
            chains[side].activeThreads.reduce(into: [:]) { $0[colours[side][Int($1)], default: 0] += 1 }
        }
        areEqual = counts[0] == counts[1]
    }
}
