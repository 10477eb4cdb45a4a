internal import DeliveryRecording

/// Rules about posts and observers.
extension CheckedRule {
    /// The posts of a name, in the order of the recording; nil means every name.
    func posts(of name: Int32?) -> [Int32] {
        index.posts.map(\.posted).filter { number in
            number >= 0 && index.isPost(number) && (name ?? index.entry(number).name) == index.entry(number).name
        }.sorted()
    }

    /// `Saved observed`, `every post observed`.
    func observed() -> RuleResult {
        // The program need not observe what Foundation itself posts.
        let posts = posts(of: name).filter { name != nil || !words.isCalledByFoundation($0) || isObserved($0) }
        guard !posts.isEmpty else {
            return fails("\(name.map { "\(words.name($0)) was never" } ?? "nothing was") posted")
        }
        // Such as a retained notification that was delivered to a later observer.
        let captured = Set(
            index.posts.map(\.posted).filter { $0 >= 0 && index.entry($0).stage == .capture && isObserved($0) }
                .map { index.entry($0).relatedPost })
        let unobserved = posts.filter { !isObserved($0) && !captured.contains(index.entry($0).post) }
        let all = counted(posts.count, "post")
        return result(
            all,
            unless: unobserved.grouped { [index.entry($0).name, index.entry($0).thread, index.entry($0).location] },
            "\(unobserved.count) of \(all) had no observer"
        ) { posts in
            let entry = index.entry(posts[0])
            return Finding(
                problem: "\(words.name(entry.name)) was posted by \(words.thread(entry.thread)) "
                    + "\(words.times(posts.count)) without an observer",
                evidence: [posts[0]], details: Self.first(unmatchedObservers(posts[0])))
        }
    }

    /// - Parameter number: a `post` or `capture`.
    func isObserved(_ number: Int32) -> Bool {
        let entry = index.entry(number)
        // The document's technique does not record the number of observers, nor does a Foundation center before the
        // post has returned.
        return entry.count > 0 || entry.isFoundation && entry.count < 0
            || entry.post >= 0 && index.posts[Int(entry.post)].deliveryCount > 0
    }

    /// The observers of a name, and why a post did not match them.
    private func unmatchedObservers(_ posted: Int32) -> [String] {
        let (post, process) = (index.entry(posted), words.recording.process(of: index.entry(posted)))
        return index.observers.indices.map(Int32.init).compactMap { number in
            guard let registration = index.registration(of: number), registration.name == post.name,
                words.recording.process(of: registration) == process
            else { return nil }
            let (registered, removed) = (words.registered(number), words.removed(number))
            let reason =
                registered > posted
                ? "was added later (line \(registration.line))"
                : removed >= 0 && removed < posted
                    ? "had been removed (line \(index.entry(removed).line))" : "observes another object or center"
            return words.observer(number) + words.location(of: registered, ", observed at ") + ", " + reason
        }
    }

    /// `at most 100 Progress per second`: the posts of a name in any second of a process.
    func posted() -> RuleResult {
        let posts = posts(of: name)
        let most = Dictionary(grouping: posts) { words.recording.process(of: index.entry($0)) }.values
            .map(mostInASecond)
        let (highest, all) = (most.map(\.count).max() ?? 0, counted(posts.count, "post"))
        return result(
            highest == 0 ? all : "\(all), at most \(highest) in a second",
            unless: most.filter { $0.count > rule.count }.map { [$0] },
            "\(all), up to \(highest) in a second"
        ) { found in
            Finding(
                problem: "\(words.name(name ?? -1)) was posted \(words.times(found[0].count)) in "
                    + ElapsedTime.text(index.time(from: found[0].first, to: found[0].last)),
                evidence: [found[0].first, found[0].last])
        }
    }

    /// The most posts in any time shorter than a second.
    private func mostInASecond(_ posts: [Int32]) -> (count: Int, first: Int32, last: Int32) {
        var (most, begin) = ((count: 0, first: Int32(-1), last: Int32(-1)), 0)
        for (end, post) in posts.enumerated() {
            while index.time(from: posts[begin], to: post) >= 1_000_000_000 { begin += 1 }
            if end - begin + 1 > most.count { most = (end - begin + 1, posts[begin], post) }
        }
        return most
    }

    /// `no post longer than 5 ms`: the time that a post occupies its thread.
    ///
    /// A post to a Foundation center returns with its `postEnd`, or lasts until its process ends. A post of the library
    /// has no record of its return. It has returned at the earliest with the last record of its thread that its call
    /// made: handing it to a mailbox, the return of a handler that ran inside it, or the end of a wait.
    func noLongPost() -> RuleResult {
        // A wait for room is inside the post, a wait for the handlers around it. Both have its source location.
        var waitsForRoom: [Int32: Int32] = [:]
        for wait in index.spans where wait.isWait {
            let post = postBefore(wait.begin)
            guard post >= 0, isPart(wait, ofPost: index.posts[Int(post)].posted) else { continue }
            waitsForRoom[post] = index.knownEnd(of: wait)
        }
        let calls = index.posts.indices.compactMap { number -> Call? in
            let post = index.posts[number]
            guard post.posted >= 0, index.isPost(post.posted) else { return nil }
            let entry = index.entry(post.posted)
            var (begin, ends) = (post.posted, [post.posted, post.returned, waitsForRoom[Int32(number)] ?? -1])
            if entry.isFoundation, post.returned < 0 {
                ends.append(index.processes[words.recording.process(of: entry)].last)
            }
            let around = index.spanAroundEntry[Int(begin)]
            if around >= 0, case let wait = index.spans[Int(around)], wait.isWait, isPart(wait, ofPost: begin) {
                (begin, ends) = (wait.begin, ends + [index.knownEnd(of: wait) ?? -1])
            }
            for number in index.deliveries(ofPost: Int32(number)) {
                let delivery = index.deliveries[number]
                if delivery.append >= 0 {
                    if index.entry(delivery.append).thread == entry.thread { ends.append(delivery.append) }
                } else if delivery.span >= 0, case let span = index.spans[Int(delivery.span)], span.outer == around {
                    // The handlers of another thread are not inside the call.
                    if span.thread == entry.thread { ends.append(index.knownEnd(of: span) ?? span.begin) }
                }
            }
            let source = index.entry(words.source(ofPost: Int32(number)))
            return Call(
                kind: [entry.name, entry.thread, source.location], begin: begin, end: ends.max() ?? begin)
        }
        return no("post", in: calls) { call, time in
            "a post of \(words.name(call.kind[0])) blocked \(words.thread(call.kind[1])) for \(time)"
        }
    }

    private func isPart(_ wait: RecordingIndex.Span, ofPost posted: Int32) -> Bool {
        let location = index.entry(wait.begin).location
        return posted >= 0 && location >= 0 && location == index.entry(posted).location
            && wait.thread == index.entry(posted).thread
    }

    /// The post whose record is the last before another one of its thread.
    private func postBefore(_ number: Int32) -> Int32 {
        var before = index.before[Int(number)]
        while before >= 0, [.signal, .dropSignal].contains(index.entry(before).stage) {
            before = index.before[Int(before)]
        }
        return before < 0 ? -1 : index.entry(before).post
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
        return result(
            all, unless: left.grouped { [index.registration(of: $0)?.name, index.registration(of: $0)?.location] },
            "\(left.count) of \(all) \(left.count == 1 ? "was" : "were") not removed"
        ) { observers in
            let more = observers.count - 1
            return Finding(
                problem: words.observer(observers[0])
                    + (more == 0 ? " was" : " and \(more) more that \(more == 1 ? "was" : "were") added there were")
                    + " not removed", evidence: [words.registered(observers[0])])
        }
    }
}
