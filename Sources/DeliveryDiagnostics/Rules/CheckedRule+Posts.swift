internal import DeliveryRecording

/// Rules about posts and observers.
extension CheckedRule {
    /// The posts of a name in each process that posted it, in the order of the recording; nil means every name.
    func posts(of name: Int32?) -> [[Int32]] {
        let posts = index.posts.map(\.posted).filter { number in
            number >= 0 && index.isPost(number) && (name ?? index.entry(number).name) == index.entry(number).name
        }
        return Dictionary(grouping: posts.sorted()) { words.recording.process(of: index.entry($0)) }
            .sorted { $0.key < $1.key }.map(\.value)
    }

    /// `Saved observed`, `every post observed`; nil means every name.
    func observed(_ name: Int32?) -> RuleResult {
        // The program need not observe what Foundation itself posts.
        let posts = posts(of: name).flatMap(\.self).filter {
            name != nil || !words.isCalledByFoundation($0) || isObserved($0)
        }
        guard !posts.isEmpty else {
            return fails("\(name.map { "\(words.name($0)) was never" } ?? "nothing was") posted")
        }
        // Such as a retained notification that was delivered to a later observer.
        let captures = index.posts.map(\.posted).filter {
            $0 >= 0 && index.entry($0).stage == .capture && isObserved($0)
        }
        let captured = Set(captures.map { index.entry($0).relatedPost })
        let unobserved = posts.filter { !isObserved($0) && !captured.contains(index.entry($0).post) }
        let all = counted(posts.count, "post")
        guard !unobserved.isEmpty else { return holds(all) }
        let places = Dictionary(grouping: unobserved) { post in
            let entry = index.entry(post)
            return [entry.name, entry.thread, entry.location]
        }.values
        return fails(
            "\(unobserved.count) of \(all) had no observer",
            places.map { posts in
                let entry = index.entry(posts[0])
                return Finding(
                    problem: "\(words.name(entry.name)) was posted by \(words.thread(entry.thread)) "
                        + "\(words.times(posts.count)) without an observer",
                    evidence: [posts[0]], details: unmatchedObservers(posts[0]))
            })
    }

    /// - Parameter number: a `post` or `capture`.
    private func isObserved(_ number: Int32) -> Bool {
        let entry = index.entry(number)
        // The document's technique does not record the number of observers, nor does a Foundation center before the
        // post has returned.
        return entry.count > 0 || entry.isFoundation && entry.count < 0
            || entry.post >= 0 && index.posts[Int(entry.post)].deliveryCount > 0
    }

    /// The observers of a name, and why a post did not match them.
    private func unmatchedObservers(_ posted: Int32) -> [String] {
        let (post, recording) = (index.entry(posted), words.recording)
        let observers = index.observers.indices.map(Int32.init).filter { number in
            index.registration(of: number).map {
                $0.name == post.name && recording.process(of: $0) == recording.process(of: post)
            } ?? false
        }
        let lines = observers.prefix(3).map { number in
            let (registered, removed) = (words.registered(number), words.removed(number))
            let reason =
                registered > posted
                ? "was added later (line \(index.entry(registered).line))"
                : removed >= 0 && removed < posted
                    ? "had been removed (line \(index.entry(removed).line))" : "observes another object or center"
            return words.observer(number) + words.location(of: registered, ", observed at ") + ", " + reason
        }
        return lines + (observers.count > 3 ? ["and \(observers.count - 3) more"] : [])
    }

    /// `at most 100 Progress per second`: the posts of a name in any second of a process.
    func posted(_ name: Int32, atMost limit: Int) -> RuleResult {
        let posts = posts(of: name)
        let most = posts.map(mostInASecond)
        let highest = most.map(\.count).max() ?? 0
        let all = counted(posts.reduce(0) { $0 + $1.count }, "post")
        guard highest > limit else { return holds(highest == 0 ? all : "\(all), at most \(highest) in a second") }
        return fails(
            "\(all), up to \(highest) in a second",
            most.filter { $0.count > limit }.map { found in
                Finding(
                    problem: "\(words.name(name)) was posted \(words.times(found.count)) in "
                        + ElapsedTime.text(index.time(from: found.first, to: found.last)),
                    evidence: [found.first, found.last])
            })
    }

    /// The most posts in any time shorter than a second.
    private func mostInASecond(_ posts: [Int32]) -> (count: Int, first: Int32, last: Int32) {
        var most = (count: 0, first: Int32(-1), last: Int32(-1))
        var begin = 0
        for (end, post) in posts.enumerated() {
            while index.time(from: posts[begin], to: post) >= 1_000_000_000 { begin += 1 }
            if end - begin + 1 > most.count { most = (end - begin + 1, posts[begin], post) }
        }
        return most
    }

    /// `no post longer than 5 ms`: the time that a post occupies its thread.
    func noPost(longerThan limit: ElapsedTime) -> RuleResult {
        let calls = index.postCalls.map { call in
            Call(
                kind: [
                    index.name(ofPost: call.post), call.thread, index.entry(words.source(ofPost: call.post)).location,
                ], begin: call.begin, end: call.end, time: index.time(from: call.begin, to: call.end))
        }
        return no("post", in: calls, longerThan: limit) { call, time, more in
            "a post of \(words.name(call.kind[0])) blocked \(words.thread(call.kind[1])) for \(time)\(more)"
        }
    }

    /// `no observer left at exit`: observers that were added and not removed.
    func noObserverLeft() -> RuleResult {
        let recording = words.recording
        if let process = recording.completeness.firstIndex(where: { $0 != .complete }) {
            let ofProcess = recording.processes.count > 1 ? " of process \(recording.processes[process].id)" : ""
            let how = recording.completeness[process].isComplete ? "ended without notice" : "is truncated"
            return fails("the recording\(ofProcess) \(how): it does not say which observers were left at exit")
        }
        // Foundation keeps observers of its own.
        let added = index.observers.indices.map(Int32.init).filter {
            words.registered($0) >= 0 && !words.isCalledByFoundation(words.registered($0))
        }
        let left = added.filter { words.removed($0) < 0 }
        let isStopped = index.processes.contains { $0.end >= 0 && index.entry($0.end).reason == .stopped }
        let all = counted(added.count, "observer") + (isStopped ? " when the recording was stopped" : "")
        guard !left.isEmpty else { return holds(all) }
        let places = Dictionary(grouping: left) { observer in
            let entry = index.registration(of: observer)
            return [entry?.name ?? -1, entry?.location ?? -1]
        }.values
        return fails(
            "\(left.count) of \(all) \(left.count == 1 ? "was" : "were") not removed",
            places.map { observers in
                let more = observers.count - 1
                return Finding(
                    problem: words.observer(observers[0])
                        + (more == 0 ? " was" : " and \(more) more that \(more == 1 ? "was" : "were") added there were")
                        + " not removed",
                    evidence: [words.registered(observers[0])])
            })
    }
}
