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
    private let runs: (ComparedRun, ComparedRun)
    /// Nil if colours are not refined.
    private let labels: (Labels, Labels)?

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
        if areRefined { refine() }
    }

    /// The colours if one thread is matched with another.
    func individualised(_ one: Int32, _ other: Int32) -> ThreadColours {
        var colours = self
        colours.first[Int(one)] = Self.mix(colours.first[Int(one)], 1)
        colours.second[Int(other)] = Self.mix(colours.second[Int(other)], 1)
        colours.refine()
        return colours
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
        var counts: [UInt64: Int] = [:]
        for (thread, colour) in colours.enumerated() where run.chains.isActive[thread] {
            counts[colour, default: 0] += 1
        }
        return counts
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
        var posts = FirstRecords(count: run.recording.posts.count)
        var observers = FirstRecords(count: run.recording.observers.count)
        fixed = []
        fixed.reserveCapacity(entries.count)
        for (index, entry) in entries.enumerated() {
            let (chain, position) = (run.chains.chainOfEntry[index], run.chains.positionOfEntry[index])
            guard chain >= 0 else {
                fixed.append(0)
                continue
            }
            // A record can represent its post or observer only if it comes first in every possible recording of the
            // run.
            let isPost =
                entry.stage == .post || entry.stage == .enqueue || entry.stage == .capture
                || (entry.stage == .append && entry.observer < 0)
            posts.see(entry.post, position: position, thread: run.chains.thread[Int(chain)], isFirst: isPost)
            observers.see(entry.observer, position: position, thread: -1, isFirst: entry.stage == .register)
            fixed.append(Self.label(of: entry, in: run, posts: posts, observers: observers))
        }
        posters = posts.threads
    }

    private static func label(
        of entry: Recording.Entry, in run: ComparedRun, posts: FirstRecords, observers: FirstRecords
    ) -> UInt64 {
        var label = UInt64(run.nameNumber(of: entry) + 2)
        label = ThreadColours.mix(label, UInt64(bitPattern: Int64(entry.stage.hashNumber)))
        label = ThreadColours.mix(label, UInt64(run.messageNumber(of: entry) + 2))
        label = ThreadColours.mix(label, UInt64(bitPattern: Int64(posts.position(of: entry.post))))
        label = ThreadColours.mix(label, UInt64(bitPattern: Int64(posts.position(of: entry.relatedPost))))
        return ThreadColours.mix(label, UInt64(bitPattern: Int64(observers.position(of: entry.observer))))
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
            processes[Int(run.recording.threads[thread].process)] &+= ThreadColours.mix(sum, colours[thread])
        }
        return colours.indices.map { thread in
            let process = processes[Int(run.recording.threads[thread].process)]
            return ThreadColours.mix(ThreadColours.mix(colours[thread], sums[thread]), process)
        }
    }
}

/// The first record of each post or observer.
private struct FirstRecords {
    /// The position in its chain, from 1; 0 if it is not certain which record comes first.
    private var positions: [Int32]
    private(set) var threads: [Int32]

    init(count: Int) {
        positions = Array(repeating: -1, count: count)
        threads = Array(repeating: -1, count: count)
    }

    mutating func see(_ number: Int32, position: Int32, thread: Int32, isFirst: Bool) {
        guard number >= 0, positions[Int(number)] < 0 else { return }
        positions[Int(number)] = isFirst ? position + 1 : 0
        if isFirst { threads[Int(number)] = thread }
    }

    func position(of number: Int32) -> Int32 { number < 0 ? -1 : positions[Int(number)] }
}

extension DeliveryStage {
    fileprivate var hashNumber: Int { Self.stages.firstIndex(of: self) ?? -1 }

    private static let stages = allCases
}
