internal import DeliveryRecording

/// A number for each record, made of its properties that are equal in equal runs, except for its threads.
struct RecordLabels {
    private let run: ComparedRun
    /// For each compared entry.
    private var labels: [UInt64]
    /// For each post: the thread of its first record; -1 if it is unknown.
    private let posters: [Int32]

    init(_ run: ComparedRun) {
        self.run = run
        let index = run.index
        // A record represents its post or observer if it is the first one in every possible recording of the run.
        let firsts = index.posts.indices.map { number in
            let enqueued = index.posts[number].enqueued
            return enqueued >= 0 ? enqueued : index.origin(ofPost: Int32(number))
        }
        posters = firsts.map { run.isCompared($0) ? run.lane(index.entry($0).thread) : -1 }
        func position(_ entry: Int32) -> Int32 { entry < 0 ? -1 : run.chains.positionOfEntry[Int(entry)] }
        func position(ofPost post: Int32) -> Int32 { post < 0 ? -1 : position(firsts[Int(post)]) }
        labels = Array(repeating: 0, count: index.recording.entries.count)
        for (number, entry) in index.recording.entries.enumerated() where run.isCompared(Int32(number)) {
            var hasher = Hasher()
            hasher.combine(entry.stage)
            hasher.combine(run.nameNumber(of: entry))
            hasher.combine(run.messageNumber(of: entry))
            hasher.combine(position(ofPost: entry.post))
            hasher.combine(position(ofPost: entry.relatedPost))
            hasher.combine(entry.observer < 0 ? -1 : position(index.observers[Int(entry.observer)].registered))
            labels[number] = UInt64(bitPattern: Int64(hasher.finalize()))
        }
    }

    /// Refines the colours of threads by one round.
    func refine(_ colours: [UInt64]) -> [UInt64] {
        let entries = run.recording.entries
        // Chains have no order among each other, so their hashes are added.
        var sums = Array(repeating: UInt64(0), count: colours.count)
        var hashes: [UInt64] = []
        for chain in run.chains.chains {
            var hash = UInt64(7)
            for number in chain.entries {
                let (target, post) = (run.lane(entries[Int(number)].target), entries[Int(number)].post)
                var label = labels[Int(number)]
                if target >= 0 { label = Self.mix(label, colours[Int(target)]) }
                if post >= 0, posters[Int(post)] >= 0 { label = Self.mix(label, colours[Int(posters[Int(post)])]) }
                hash = Self.mix(hash, label)
            }
            hashes.append(hash)
            if chain.parent >= 0 {
                let parent = run.chains.chains[Int(chain.parent)]
                hash = Self.mix(Self.mix(hash, hashes[Int(chain.parent)]), colours[Int(parent.thread)])
            }
            sums[Int(chain.thread)] &+= hash
        }
        var processes = Array(repeating: UInt64(0), count: run.recording.processes.count)
        for thread in run.chains.activeThreads {
            processes[Int(run.process(ofThread: thread))] &+= Self.mix(sums[Int(thread)], colours[Int(thread)])
        }
        return colours.indices.map { thread in
            let process = processes[Int(run.process(ofThread: Int32(thread)))]
            return Self.mix(Self.mix(colours[thread], sums[thread]), process)
        }
    }

    static func mix(_ one: UInt64, _ other: UInt64) -> UInt64 {
        var mixed = (one ^ (other &* 0x9E37_79B9_7F4A_7C15)) &* 0xBF58_476D_1CE4_E5B9
        mixed ^= mixed >> 29
        mixed = mixed &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 32)
    }
}
