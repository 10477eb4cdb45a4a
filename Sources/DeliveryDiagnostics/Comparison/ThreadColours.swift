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
    private let runs: Pair<ComparedRun>
    /// For each record a number for its properties that are equal in equal runs, and for each post the thread of its
    /// first record. Nil if names tell all threads apart.
    private let labels: Pair<(ofEntry: [UInt64], posters: [Int32])>?
    /// The threads of the second run, in the order of their first records.
    private var byColour: [UInt64: [Int32]] = [:]
    private let byKey: [Int32: [Int32]]

    /// Only long rows of similar threads need more rounds.
    private static let maximumRounds = 32

    /// - Parameter areRefined: whether to refine the colours. If not, a thread's colour is its name, and `areEqual` is
    ///   false.
    init(_ runs: Pair<ComparedRun>, areRefined: Bool) {
        self.runs = runs
        colours = runs.map { $0.threadKeys.map { Self.mix(0x51, UInt64(bitPattern: Int64($0))) } }
        let areDistinct = RunSide.allCases.allSatisfy { Set(runs[$0].threadKeys).count == runs[$0].threadKeys.count }
        labels = areRefined && !areDistinct ? runs.map(Self.labels) : nil
        byKey = Dictionary(grouping: runs.second.chains.activeThreads) { runs.second.threadKeys[Int($0)] }
        refine(areRefined)
    }

    /// The colours if one thread is matched with another.
    func individualised(_ thread: Int32, _ counterpart: Int32) -> ThreadColours {
        var result = self
        result.colours.first[Int(thread)] = Self.mix(colours.first[Int(thread)], 1)
        result.colours.second[Int(counterpart)] = result.colours.first[Int(thread)]
        result.individuals.insert(thread)
        result.refine(areEqual)
        return result
    }

    func colour(of thread: Int32) -> UInt64 { colours.first[Int(thread)] }

    /// The threads of the second run that may match one of the first: those of the same colour. If there are none, and
    /// the runs are not known to have equal colours, those of the same name.
    func candidates(of thread: Int32) -> [Int32] {
        byColour[colour(of: thread)] ?? (areEqual ? [] : namesakes(of: thread))
    }

    func namesakes(of thread: Int32) -> [Int32] { byKey[runs.first.threadKeys[Int(thread)]] ?? [] }

    func mayMatch(_ thread: Int32, _ counterpart: Int32) -> Bool {
        runs.first.threadKeys[Int(thread)] == runs.second.threadKeys[Int(counterpart)]
            && (!areEqual || colours.first[Int(thread)] == colours.second[Int(counterpart)])
    }

    private mutating func refine(_ areRefined: Bool) {
        var classes = 0
        for _ in 0..<(areRefined && labels != nil ? Self.maximumRounds : 0) {
            let found = Set(colours.first).union(colours.second).count
            guard found > classes, let labels else { break }
            classes = found
            for side in RunSide.allCases { colours[side] = Self.refined(colours[side], runs[side], labels[side]) }
        }
        // Threads without compared records are not counted: whether they exist is chance.
        let active = runs.map(\.chains.activeThreads)
        byColour = Dictionary(grouping: active.second) { [colours] in colours.second[Int($0)] }
        let counts = Dictionary(grouping: active.first) { [colours] in colours.first[Int($0)] }
        areEqual = areRefined && counts.mapValues(\.count) == byColour.mapValues(\.count)
    }

    private static func labels(_ run: ComparedRun) -> (ofEntry: [UInt64], posters: [Int32]) {
        let index = run.index
        // A record represents its post or observer if it is the first one in every possible recording of the run.
        let firsts = index.posts.indices.map { number in
            index.posts[number].enqueued >= 0 ? index.posts[number].enqueued : index.origin(ofPost: Int32(number))
        }
        func position(_ entry: Int32) -> Int32 { entry < 0 ? -1 : run.chains.positionOfEntry[Int(entry)] }
        func position(ofPost post: Int32) -> Int32 { post < 0 ? -1 : position(firsts[Int(post)]) }
        let labels = index.recording.entries.indices.map { number -> UInt64 in
            guard run.isCompared(Int32(number)) else { return 0 }
            let entry = index.recording.entries[number]
            var hasher = Hasher()
            hasher.combine(entry.stage)
            hasher.combine(run.nameNumber(of: entry))
            hasher.combine(run.messageNumber(of: entry))
            hasher.combine(position(ofPost: entry.post))
            hasher.combine(position(ofPost: entry.relatedPost))
            hasher.combine(entry.observer < 0 ? -1 : position(index.observers[Int(entry.observer)].registered))
            return UInt64(bitPattern: Int64(hasher.finalize()))
        }
        return (labels, firsts.map { run.isCompared($0) ? run.lane(index.entry($0).thread) : -1 })
    }

    /// Refines the colours of a run's threads by one round.
    private static func refined(
        _ colours: [UInt64], _ run: ComparedRun, _ labels: (ofEntry: [UInt64], posters: [Int32])
    ) -> [UInt64] {
        // Chains have no order among each other, so their hashes are added.
        var sums = Array(repeating: UInt64(0), count: colours.count)
        var hashes: [UInt64] = []
        for (key, entries) in zip(run.chains.keys, run.chains.entries) {
            var hash = UInt64(7)
            for number in entries {
                let entry = run.index.entry(number)
                let (target, poster) = (run.lane(entry.target), entry.post < 0 ? -1 : labels.posters[Int(entry.post)])
                hash = [target, poster].reduce(mix(hash, labels.ofEntry[Int(number)])) { hash, thread in
                    mix(hash, thread < 0 ? 0 : colours[Int(thread)])
                }
            }
            hashes.append(hash)
            if key.parent >= 0 {
                let parent = Int(key.parent)
                hash = mix(mix(hash, hashes[parent]), colours[Int(run.chains.keys[parent].thread)])
            }
            sums[Int(key.thread)] &+= hash
        }
        var processes = Array(repeating: UInt64(0), count: run.recording.processes.count)
        for thread in run.chains.activeThreads {
            processes[Int(run.process(ofThread: thread))] &+= mix(sums[Int(thread)], colours[Int(thread)])
        }
        return colours.indices.map { thread in
            mix(mix(colours[thread], sums[thread]), processes[Int(run.process(ofThread: Int32(thread)))])
        }
    }

    static func mix(_ one: UInt64, _ other: UInt64) -> UInt64 {
        var mixed = (one ^ (other &* 0x9E37_79B9_7F4A_7C15)) &* 0xBF58_476D_1CE4_E5B9
        mixed ^= mixed >> 29
        mixed = mixed &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 32)
    }
}
