internal import DeliveryRecording

/// How long handlers ran, and how long posts occupied the thread that posted.
extension RecordingIndex {
    /// The call of a post, from its first to its last known record.
    struct PostCall {
        let post: Int32
        /// The `post` or `capture`; for a post that waits for its handlers, the `wait` around it.
        var begin: Int32
        var end: Int32
        let thread: Int32
    }

    /// The last record of a span: its own end, or the end of its thread or process if it continues until then. Nil if
    /// its end is unknown.
    func knownEnd(of span: Span) -> Int32? {
        switch span.ending {
        case .returned: span.end
        case .open: span.end >= 0 ? span.end : processes[Int(recording.threads[Int(span.thread)].process)].last
        case .abandoned: entry(span.end).stage == .threadEnd ? span.end : nil
        case .notRecorded: nil
        }
    }

    /// The calls of all posts, in the order of the recording.
    ///
    /// A post to a Foundation center returns with its `postEnd`, or lasts until its process ends.
    /// A post of the library has no record of its return. It has returned at the earliest with the last record that its
    /// call made on the posting thread: handing it to a mailbox, the return of a handler that ran inside the post, or
    /// the end of a wait for handlers.
    var postCalls: [PostCall] {
        var calls: [PostCall] = []
        /// For each thread: the calls that it may still be in, in `calls`, and the number of spans around each.
        var open: [[(call: Int, depth: Int)]] = Array(repeating: [], count: threads.count)
        /// A capture of a post that is under way is a part of that post.
        var callOfPost: [Int32: Int] = [:]
        for (number, entry) in recording.entries.enumerated() {
            let thread = Int(entry.thread)
            // The end of a handler or a wait belongs to what its beginning belongs to.
            let span = spanOfEntry[number]
            let isEnd = span >= 0 && spans[Int(span)].end == number
            let own = isEnd ? self.entry(spans[Int(span)].begin) : entry
            let depth = isEnd ? Int(spans[Int(span)].depth) : self.depth(of: Int32(number))
            while let last = open[thread].last {
                if last.depth < depth || last.depth == depth && isPart(own, of: calls[last.call], callOfPost) { break }
                open[thread].removeLast()
            }
            if let last = open[thread].last, last.depth == depth {
                let isOpen = span >= 0 && !isEnd && spans[Int(span)].ending == .open
                let end = isOpen ? knownEnd(of: spans[Int(span)]) ?? Int32(number) : Int32(number)
                calls[last.call].end = max(calls[last.call].end, end)
                if entry.stage == .capture, entry.post >= 0 { callOfPost[entry.post] = last.call }
            } else if entry.stage == .post || entry.stage == .capture, entry.post >= 0, callOfPost[entry.post] == nil {
                callOfPost[entry.post] = calls.count
                open[thread].append((calls.count, depth))
                calls.append(call(of: entry, Int32(number)))
            }
        }
        return calls
    }

    private func call(of entry: Recording.Entry, _ number: Int32) -> PostCall {
        var call = PostCall(post: entry.post, begin: number, end: number, thread: entry.thread)
        // A post that waits for its handlers begins the wait first, with the same source location.
        let around = spanAroundEntry[Int(number)]
        if around >= 0, case let span = spans[Int(around)], span.isWait, entry.location >= 0,
            self.entry(span.begin).location == entry.location
        {
            call.begin = span.begin
            call.end = knownEnd(of: span) ?? number
        }
        if entry.isFoundation, posts[Int(entry.post)].returned < 0 {
            call.end = max(number, processes[recording.process(of: entry)].last)
        }
        return call
    }

    /// True if a record of the same thread and depth was made by the call of a post.
    private func isPart(_ entry: Recording.Entry, of call: PostCall, _ callOfPost: [Int32: Int]) -> Bool {
        switch entry.stage {
        case .signal, .dropSignal: true
        case .wait, .refuseWait: entry.location >= 0 && entry.location == self.entry(call.begin).location
        case .capture: entry.post == call.post || entry.relatedPost == call.post && entry.relatedPost >= 0
        default: entry.post >= 0 && (entry.post == call.post || callOfPost[entry.post] == callOfPost[call.post])
        }
    }
}
