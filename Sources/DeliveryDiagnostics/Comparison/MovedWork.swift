internal import DeliveryRecording

/// Observers, posts, handlers and messages that belong to other threads in the other run. Much of what differs
/// otherwise follows from that.
struct MovedWork {
    let difference: RunDifference
    /// The records to remove to find other differences.
    let records: Pair<[Int]>

    private enum Kind {
        case observed, posted, handled, logged
    }

    private struct Work: Hashable {
        var kind: Kind
        /// The number of the name or message, which is the same in both runs.
        var text: Int32
    }

    /// What a run does on some threads.
    private struct Places {
        /// By key: the first record, and a thread with that key.
        var threads: [Int32: (first: Int, thread: Int32)] = [:]
        var records: [Int] = []
    }

    /// In the order of the first run.
    static func found(_ runs: Pair<ComparedRun>) -> [MovedWork] {
        let places = runs.map(Self.places)
        var found: [(first: Int, moved: MovedWork)] = []
        for (work, one) in places.first {
            guard let other = places.second[work] else { continue }
            let (keys, otherKeys) = (Set(one.threads.keys), Set(other.threads.keys))
            guard !keys.isSubset(of: otherKeys), !otherKeys.isSubset(of: keys) else { continue }
            let first = Self.first(one, except: otherKeys)
            let moved = MovedWork(
                work, runs, Pair(first, Self.first(other, except: keys)), Pair(one, other))
            found.append((first, moved))
        }
        return found.sorted { $0.first < $1.first }.map(\.moved)
    }

    private init(_ work: Work, _ runs: Pair<ComparedRun>, _ shown: Pair<Int>, _ places: Pair<Places>) {
        let (names, entry) = (RunDifference.names(runs), runs.first.recording.entries[shown.first])
        let words = RecordWords(runs.first.index)
        func threads(_ side: RunSide) -> String {
            let run = runs[side]
            let threads = places[side].threads.values.sorted { $0.first < $1.first }.map(\.thread)
            let all = threads.map { $0 < 0 ? "the posting thread" : RecordWords(run.index).thread($0) }
            return words.list(all) + " in \(names[side])"
        }
        let (subject, preposition) =
            switch work.kind {
            case .observed: ("The observer of \(words.name(entry.name)) is", "for")
            case .posted: ("\(words.name(entry.name)) is posted", "by")
            case .handled: ("\(words.name(entry.name)) is handled", "on")
            case .logged: ("The message is logged", "on")
            }
        difference = RunDifference(
            reason: work.kind == .observed ? .target : .thread, first: .init(runs.first.index, shown.first),
            second: .init(runs.second.index, shown.second),
            explanation: ["\(subject) \(preposition) \(threads(.first)), \(preposition) \(threads(.second))."])
        records = places.map(\.records)
    }

    /// The first record on a thread that the other run does not use.
    private static func first(_ places: Places, except keys: Set<Int32>) -> Int {
        places.threads.filter { !keys.contains($0.key) }.map(\.value.first).min() ?? 0
    }

    private static func places(_ run: ComparedRun) -> [Work: Places] {
        var found: [Work: Places] = [:]
        for (number, entry) in run.recording.entries.enumerated() where run.isCompared(Int32(number)) {
            let (kind, thread): (Kind, Int32)
            switch entry.stage {
            case .register: (kind, thread) = (.observed, entry.target)
            // The post of a posting queue is made by the queue.
            case .post where entry.post < 0 || run.index.posts[Int(entry.post)].enqueued < 0, .enqueue:
                (kind, thread) = (.posted, entry.thread)
            case .deliver: (kind, thread) = (.handled, entry.thread)
            case .log: (kind, thread) = (.logged, entry.thread)
            case .append:
                let work = Work(kind: .handled, text: run.nameNumber(of: entry))
                found[work, default: Places()].records.append(number)
                continue
            default: continue
            }
            let text = kind == .logged ? run.messageNumber(of: entry) : run.nameNumber(of: entry)
            // A block has no name, and another one may be anything else.
            guard text >= 0 else { continue }
            let key = thread < 0 ? Int32.min : run.threadKeys[Int(thread)]
            var places = found[Work(kind: kind, text: text)] ?? Places()
            if places.threads[key] == nil { places.threads[key] = (number, thread) }
            places.records.append(number)
            found[Work(kind: kind, text: text)] = places
        }
        return found
    }
}
