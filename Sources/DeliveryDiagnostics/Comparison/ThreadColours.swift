/// Colours for threads by what they do: threads that can stand for each other have the same colour in both runs.
///
/// A colour is refined by the colours of the threads that a thread hands something to or gets something from, until no more
/// threads can be told apart (as Weisfeiler and Leman do it with graphs). Different colours cannot be the same thread; the
/// same colour may be a tie that only the comparison itself decides.
struct ThreadColours {
    private(set) var first: [UInt64]
    private(set) var second: [UInt64]
    /// Whether there are as many threads of each colour in one run as in the other: if not, the runs differ.
    private(set) var areEqual = false
    private let runs: (ComparedRun, ComparedRun)
    /// Nil if colours are not refined.
    private let labels: (Labels, Labels)?

    /// More rounds tell more threads apart only in long rows of threads that are alike.
    private static let mostRounds = 32

    /// - Parameter areRefined: if not, a thread's name is its colour, and they are said to differ.
    init(_ one: ComparedRun, _ other: ComparedRun, areRefined: Bool) {
        func colours(_ run: ComparedRun) -> [UInt64] {
            run.threadKeys.map { Self.mix(0x51, UInt64(bitPattern: Int64($0))) }
        }
        func isTold(_ run: ComparedRun) -> Bool { Set(run.threadKeys).count == run.threadKeys.count }
        runs = (one, other)
        (first, second) = (colours(one), colours(other))
        labels = areRefined && !(isTold(one) && isTold(other)) ? (Labels(one), Labels(other)) : nil
        if areRefined { refine() }
    }

    /// The colours if one thread stands for another.
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
        for _ in 0..<Self.mostRounds {
            (first, second) = (labels.0.refine(first), labels.1.refine(second))
            let found = Set(first).union(second).count
            if found <= classes { break }
            classes = found
        }
    }

    /// Threads that do nothing that is compared are not counted: whether they are there is chance.
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

/// What of each record is the same in every run that is the same.
private struct Labels {
    private let run: ComparedRun
    private var fixed: [UInt64]
    /// The thread in whose chain each post was posted first, where that is certain; or -1.
    private var posters: [Int32]

    init(_ run: ComparedRun) {
        self.run = run
        let entries = run.recording.entries
        var posts = Places(count: run.recording.posts.count)
        var observers = Places(count: run.recording.observers.count)
        fixed = []
        fixed.reserveCapacity(entries.count)
        for (place, entry) in entries.enumerated() {
            let (chain, position) = (run.chains.chainOfEntry[place], run.chains.positionOfEntry[place])
            guard chain >= 0 else {
                fixed.append(0)
                continue
            }
            // Only what comes before all others of its number in every order in which it may be recorded can stand for it.
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
        of entry: Recording.Entry, in run: ComparedRun, posts: Places, observers: Places
    ) -> UInt64 {
        var label = UInt64(run.nameNumber(of: entry) + 2)
        label = ThreadColours.mix(label, UInt64(bitPattern: Int64(entry.stage.hashNumber)))
        label = ThreadColours.mix(label, UInt64(run.messageNumber(of: entry) + 2))
        label = ThreadColours.mix(label, UInt64(bitPattern: Int64(posts.position(of: entry.post))))
        label = ThreadColours.mix(label, UInt64(bitPattern: Int64(posts.position(of: entry.relatedPost))))
        return ThreadColours.mix(label, UInt64(bitPattern: Int64(observers.position(of: entry.observer))))
    }

    /// The colours that follow from these.
    func refine(_ colours: [UInt64]) -> [UInt64] {
        let chains = run.chains
        var hashes = Array(repeating: UInt64(7), count: chains.count.count)
        run.recording.entries.withUnsafeBufferPointer { entries in
            for place in entries.indices {
                let chain = Int(chains.chainOfEntry[place])
                guard chain >= 0 else { continue }
                var label = fixed[place]
                let (target, post) = (entries[place].target, entries[place].post)
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
            // Chains have no order among each other, and neither has a sum.
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

/// Where the posts or observers of a run come first.
private struct Places {
    /// 0 if it is not certain which record comes first.
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
    /// A number for each stage.
    fileprivate var hashNumber: Int { Self.stages.firstIndex(of: self) ?? -1 }

    private static let stages = allCases
}
