internal import DeliveryRecording

extension Detector {
    /// Finds observers of any name of a Foundation center that end the process: on Linux, the post of an `AsyncMessage` to
    /// a center that has such an observer is a fatal error.
    ///
    /// The recording does not say which posts are messages. It is a finding if the process ended by a signal in the post.
    static let anyNameObserver = Detector(
        "anyNameObserver", "a post to a center with an observer of any name ended the process"
    ) { evidence in
        let (index, words, recording) = (evidence.index, evidence.words, evidence.recording)
        return index.processes.enumerated().compactMap { process, records -> Finding? in
            // Swift ends a process by these signals.
            guard records.end >= 0, case let end = index.entry(records.end), case .signal(let signal)? = end.reason,
                signal == 4 || signal == 5
            else { return nil }
            let threads = recording.threads.indices.map(Int32.init).filter {
                end.isThreadKnown ? $0 == end.thread : evidence.process(of: $0) == process
            }
            guard let post = threads.lazy.compactMap(evidence.postAtEnd).first else { return nil }
            let (posted, name) = (index.posts[Int(post)].posted, index.name(ofPost: post))
            let center = recording.foundationDetails(of: index.entry(posted))?.center
            let observer = index.observers.indices.map(Int32.init).first { observer in
                let (added, removed) = (words.registered(observer), words.removed(observer))
                guard added >= 0, added < posted, removed < 0 || removed > posted else { return false }
                let registration = index.entry(added)
                return registration.isFoundation && registration.name < 0
                    && recording.process(of: registration) == process
                    && evidence.foundation(of: observer)?.center == center
            }
            guard let observer else { return nil }
            return Finding(
                problem: "The process ended by \(end.reason?.description ?? "a signal") while "
                    + "\(words.thread(index.entry(posted).thread)) posted \(words.name(name)) to a center that has an "
                    + "observer of any name, \(recording.describeObserver(observer)).",
                evidence: [words.registered(observer), posted, records.end],
                remedy: "If \(words.name(name)) is an AsyncMessage, give the observer a name: on Linux, the post of an "
                    + "AsyncMessage to a center that has an observer of any name is a fatal error.", name: name)
        }
    }
}

extension Evidence {
    /// The post to a Foundation center that a thread was making with its last record, not in a handler of its own, or
    /// in that of an observer of any name.
    fileprivate func postAtEnd(of thread: Int32) -> Int32? {
        let last = index.threads[Int(thread)].last
        guard last >= 0, case let entry = index.entry(last), entry.isFoundation, words.posted(entry) >= 0,
            index.posts[Int(entry.post)].returned < 0
        else { return nil }
        let isOfAnyName = index.registration(of: entry.observer)?.name ?? 0 < 0
        return entry.stage == .post || entry.stage == .return || entry.stage == .deliver && isOfAnyName
            ? entry.post : nil
    }
}
