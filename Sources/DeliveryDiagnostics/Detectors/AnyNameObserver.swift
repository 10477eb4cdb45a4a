internal import DeliveryRecording

extension Detector {
    /// Finds observers of any name of a Foundation center that end the process: on Linux, the post of an `AsyncMessage` to
    /// a center that has such an observer is a fatal error.
    ///
    /// The recording does not say which posts are messages. It is a finding if the process ended by a signal in the post.
    static let anyNameObserver = Detector(
        "anyNameObserver", "a post to a center with an observer of any name ended the process"
    ) { evidence in
        let words = evidence.words
        let (index, recording) = (words.index, words.recording)
        return index.processes.enumerated().compactMap { process, records in
            guard records.end >= 0, case let end = index.entry(records.end), isFatalError(end.reason),
                let thread = recording.threads.indices.map(Int32.init).first(where: { thread in
                    (end.isThreadKnown ? thread == end.thread : Int(recording.threads[Int(thread)].process) == process)
                        && postAtEnd(of: thread, index) != nil
                }), let post = postAtEnd(of: thread, index)
            else { return nil }
            let posted = index.posts[Int(post)].posted
            let center = recording.foundationDetails(of: index.entry(posted))?.center
            let observer = index.observers.indices.map(Int32.init).first { observer in
                guard Int(recording.observers[Int(observer)].process) == process,
                    let registration = index.registration(of: observer),
                    case let removed = index.observers[Int(observer)].removed
                else { return false }
                return registration.isFoundation && registration.name < 0
                    && recording.foundationDetails(of: registration)?.center == center
                    && index.observers[Int(observer)].registered < posted && (removed < 0 || removed > posted)
            }
            guard let observer else { return nil }
            let name = index.name(ofPost: post)
            return Finding(
                severity: .problem,
                problem: "The process ended by \(end.reason?.description ?? "a signal") while \(words.thread(thread)) "
                    + "posted \(words.name(name)) to a center that has an observer of any name, "
                    + "\(recording.describeObserver(observer)).",
                evidence: [words.registered(observer), posted, records.end],
                remedy: "If \(words.name(name)) is an AsyncMessage, give the observer a name: on Linux, the post of an "
                    + "AsyncMessage to a center that has an observer of any name is a fatal error.", weight: 1,
                name: name)
        }
    }

    /// True for the signals by which Swift ends a process.
    private static func isFatalError(_ reason: Recording.Reason?) -> Bool {
        if case .signal(let number)? = reason { number == 4 || number == 5 } else { false }
    }

    /// The post to a Foundation center that a thread was making with its last record, not in a handler of its own, or
    /// in that of an observer of any name.
    private static func postAtEnd(of thread: Int32, _ index: RecordingIndex) -> Int32? {
        let last = index.threads[Int(thread)].last
        guard last >= 0, case let entry = index.entry(last), entry.isFoundation, entry.post >= 0,
            index.posts[Int(entry.post)].posted >= 0, index.posts[Int(entry.post)].returned < 0
        else { return nil }
        let isOfAnyName = index.registration(of: entry.observer)?.name ?? 0 < 0
        return entry.stage == .post || entry.stage == .return || entry.stage == .deliver && isOfAnyName
            ? entry.post : nil
    }
}
