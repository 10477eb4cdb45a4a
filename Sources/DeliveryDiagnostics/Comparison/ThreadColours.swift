internal import DeliveryRecording

/// Colours threads by their records: threads that correspond to each other have the same colour in both runs.
///
/// A colour is refined by the colours of the threads that a thread hands something to or receives something from, until
/// no further threads can be distinguished (the Weisfeiler–Leman algorithm). Threads of different colours cannot match.
/// Threads of the same colour may match; only the comparison decides.
struct ThreadColours {
    private(set) var first: [UInt64]
    private(set) var second: [UInt64]
    /// True if both runs have equally many threads of each colour. If not, the runs differ.
    private(set) var areEqual = false
    /// The threads of the first run that are matched by their colours alone.
    private(set) var individuals: Set<Int32> = []
    private let runs: (ComparedRun, ComparedRun)
    /// Nil if colours are not refined.
    private let labels: (Labels, Labels)?
    /// The threads of the second run, in the order of their first records.
    private var byColour: [UInt64: [Int32]] = [:]
    private let byKey: [Int32: [Int32]]

    /// Only long rows of similar threads need more rounds.
    private static let maximumRounds = 32

    /// - Parameter areRefined: whether to refine the colours. If not, a thread's colour is its name, and `areEqual` is
    ///   false.
    init(_ one: ComparedRun, _ other: ComparedRun, areRefined: Bool) {
        func colours(_ run: ComparedRun) -> [UInt64] {
            run.threadKeys.map { Self.mix(0x51, UInt64(bitPattern: Int64($0))) }
        }
        func hasDistinctKeys(_ run: ComparedRun) -> Bool { Set(run.threadKeys).count == run.threadKeys.count }
        runs = (one, other)
        (first, second) = (colours(one), colours(other))
        labels = areRefined && !(hasDistinctKeys(one) && hasDistinctKeys(other)) ? (Labels(one), Labels(other)) : nil
        byKey = Dictionary(grouping: other.chains.activeThreads) { other.threadKeys[Int($0)] }
        if areRefined { refine() }
        noteColours()
    }

    /// The colours if one thread is matched with another.
    func individualised(_ one: Int32, _ other: Int32) -> ThreadColours {
        var colours = self
        colours.first[Int(one)] = Self.mix(colours.first[Int(one)], 1)
        colours.second[Int(other)] = colours.first[Int(one)]
        colours.individuals.insert(one)
        if areEqual { colours.refine() }
        colours.noteColours()
        return colours
    }

    /// The threads of the second run that may match one of the first: those of the same colour. If there are none, and
    /// the runs are not known to have equal colours, those of the same name.
    func candidates(of one: Int32) -> [Int32] { byColour[first[Int(one)]] ?? (areEqual ? [] : namesakes(of: one)) }

    func namesakes(of one: Int32) -> [Int32] { byKey[runs.0.threadKeys[Int(one)]] ?? [] }

    func mayMatch(_ one: Int32, _ other: Int32) -> Bool {
        runs.0.threadKeys[Int(one)] == runs.1.threadKeys[Int(other)]
            && (!areEqual || first[Int(one)] == second[Int(other)])
    }

    private mutating func noteColours() {
        byColour = Dictionary(grouping: runs.1.chains.activeThreads) { second[Int($0)] }
    }

    private mutating func refine() {
        defer { areEqual = Self.counts(of: first, in: runs.0) == Self.counts(of: second, in: runs.1) }
        guard let labels else { return }
        var classes = Set(first).union(second).count
        for _ in 0..<Self.maximumRounds {
            (first, second) = (labels.0.refine(first), labels.1.refine(second))
            let found = Set(first).union(second).count
            if found <= classes { break }
            classes = found
        }
    }

    /// Threads without compared records are not counted: whether they exist is chance.
    private static func counts(of colours: [UInt64], in run: ComparedRun) -> [UInt64: Int] {
        colours.indices.reduce(into: [:]) { if run.chains.isActive[$1] { $0[colours[$1], default: 0] += 1 } }
    }

    fileprivate static func mix(_ one: UInt64, _ other: UInt64) -> UInt64 {
        var mixed = (one ^ (other &* 0x9E37_79B9_7F4A_7C15)) &* 0xBF58_476D_1CE4_E5B9
        mixed ^= mixed >> 29
        mixed = mixed &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 32)
    }
}

/// The properties of each record that are equal in equal runs.
private struct Labels {
    private let run: ComparedRun
    private var fixed: [UInt64]
    /// For each post: the thread of its first record, if that record is certain; else -1.
    private var posters: [Int32]

    init(_ run: ComparedRun) {
        self.run = run
        let entries = run.recording.entries
        posters = Array(repeating: -1, count: run.recording.posts.count)
        fixed = Array(repeating: 0, count: entries.count)
        // For each post and observer: the position of its first record in its chain, from 1; 0 if it is not certain
        // which record comes first; -1 if there was none yet.
        var (posts, observers) = (posters, Array(repeating: Int32(-1), count: run.recording.observers.count))
        func note(_ number: Int32, _ positions: inout [Int32], at place: Int32, isFirst: Bool) -> Bool {
            guard number >= 0, positions[Int(number)] < 0 else { return false }
            positions[Int(number)] = isFirst ? place + 1 : 0
            return isFirst
        }
        func position(_ number: Int32, _ positions: [Int32]) -> UInt64 {
            UInt64(bitPattern: number < 0 ? -1 : Int64(positions[Int(number)]))
        }
        for (index, entry) in entries.enumerated() {
            let (chain, place) = (run.chains.chainOfEntry[index], run.chains.positionOfEntry[index])
            guard chain >= 0 else { continue }
            // A record can represent its post or observer only if it comes first in every possible recording of the
            // run.
            let isPost =
                entry.stage == .post || entry.stage == .enqueue || entry.stage == .capture
                || (entry.stage == .append && entry.observer < 0)
            if note(entry.post, &posts, at: place, isFirst: isPost) {
                posters[Int(entry.post)] = run.chains.thread[Int(chain)]
            }
            _ = note(entry.observer, &observers, at: place, isFirst: entry.stage == .register)
            var label = UInt64(run.nameNumber(of: entry) + 2)
            label = ThreadColours.mix(label, entry.stage.number)
            label = ThreadColours.mix(label, UInt64(run.messageNumber(of: entry) + 2))
            label = ThreadColours.mix(label, position(entry.post, posts))
            label = ThreadColours.mix(label, position(entry.relatedPost, posts))
            fixed[index] = ThreadColours.mix(label, position(entry.observer, observers))
        }
    }

    /// Refines colours by one round.
    func refine(_ colours: [UInt64]) -> [UInt64] {
        let chains = run.chains
        var hashes = Array(repeating: UInt64(7), count: chains.count.count)
        run.recording.entries.withUnsafeBufferPointer { entries in
            for index in entries.indices {
                let chain = Int(chains.chainOfEntry[index])
                guard chain >= 0 else { continue }
                var label = fixed[index]
                let (target, post) = (entries[index].target, entries[index].post)
                if target >= 0 { label = ThreadColours.mix(label, colours[Int(target)]) }
                if post >= 0, posters[Int(post)] >= 0 {
                    label = ThreadColours.mix(label, colours[Int(posters[Int(post)])])
                }
                hashes[chain] = ThreadColours.mix(hashes[chain], label)
            }
        }
        var sums = Array(repeating: UInt64(0), count: colours.count)
        for chain in hashes.indices {
            let (parent, thread) = (Int(chains.parent[chain]), Int(chains.thread[chain]))
            var hash = hashes[chain]
            if parent >= 0 {
                hash = ThreadColours.mix(ThreadColours.mix(hash, hashes[parent]), colours[Int(chains.thread[parent])])
            }
            // Chains have no order among each other, so their hashes are added.
            sums[thread] &+= hash
        }
        var processes = Array(repeating: UInt64(0), count: run.recording.processes.count)
        for (thread, sum) in sums.enumerated() where run.chains.isActive[thread] {
            processes[Int(run.process(ofThread: Int32(thread)))] &+= ThreadColours.mix(sum, colours[thread])
        }
        return colours.indices.map { thread in
            let process = processes[Int(run.process(ofThread: Int32(thread)))]
            return ThreadColours.mix(ThreadColours.mix(colours[thread], sums[thread]), process)
        }
    }
}

extension DeliveryStage {
    fileprivate var number: UInt64 { UInt64(Self.numbers[self] ?? 0) }

    private static let numbers = Dictionary(uniqueKeysWithValues: zip(allCases, 1...))
}
