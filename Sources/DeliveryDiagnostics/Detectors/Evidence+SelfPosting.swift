internal import DeliveryRecording

/// Handlers that cause their own next call, again and again.
extension Evidence {
    var selfPosting: [Finding] {
        /// For each span: the length of its chain of calls of the same observer, each caused by the one before.
        var lengths: [Int32] = Array(repeating: 1, count: index.spans.count)
        /// For each observer: its longest chain, and the last call of it.
        var longest: [Int32: (length: Int32, span: Int32)] = [:]
        for (number, span) in index.spans.enumerated() {
            let observer = index.observer(of: span)
            // A cause with a later index occurs only in a damaged recording.
            guard observer >= 0, let previous = previousCall(of: observer, from: index.cause(of: span)),
                previous.span < number
            else { continue }
            lengths[number] = lengths[Int(previous.span)] + 1
            if lengths[number] > longest[observer]?.length ?? 1 { longest[observer] = (lengths[number], Int32(number)) }
        }
        let continuing = longest.isEmpty ? [] : continuingCalls
        /// Observers that are part of another observer's chain are reported with that chain.
        var reported: Set<Int32> = []
        return longest.sorted { ($1.value.length, $0.key) < ($0.value.length, $1.key) }.compactMap { observer, chain in
            let continues = continuing.contains(chain.span)
            // A chain of ten that continues until the end of the recording is a finding.
            guard chain.length > limits.chain || continues && chain.length >= 10, reported.insert(observer).inserted
            else { return nil }
            let span = index.spans[Int(chain.span)]
            let others = previousCall(of: observer, from: index.cause(of: span))?.others ?? []
            reported.formUnion(others)
            let through = others.isEmpty ? "" : " through \(words.list(others.map { words.observer($0) }))"
            return Finding(
                severity: continues ? .problem : .note,
                problem:
                    "\(words.observer(observer)) causes its own next call\(through), \(chain.length) times in a row"
                    + (continues ? ", and still does when the recording ends." : "."),
                evidence: [words.registered(observer), words.posted(index.entry(span.begin)), span.begin],
                remedy: "Post in the handler only if something changed. If it works step by step, do not post in the "
                    + "last step.", weight: Int(chain.length), name: index.entry(span.begin).name)
        }
    }

    /// Follows the causes of a call to the previous call of the observer, past at most eight calls of others.
    ///
    /// - Parameter cause: the handler that caused the call, in `spans`; -1 if there is none.
    /// - Returns: the call, and the other observers in between, the last first; nil if there is none.
    private func previousCall(of observer: Int32, from cause: Int32) -> (span: Int32, others: [Int32])? {
        var (cause, others) = (cause, [Int32]())
        for _ in 0...8 where cause >= 0 {
            let other = index.observer(of: index.spans[Int(cause)])
            if other == observer { return (cause, others) }
            if other >= 0, !others.contains(other) { others.append(other) }
            cause = index.cause(of: index.spans[Int(cause)])
        }
        return nil
    }

    /// The handlers that are still running, or that made a post that is still pending for the same observer.
    private var continuingCalls: Set<Int32> {
        let posting = index.deliveries.filter { $0.observer >= 0 && $0.isPending }.compactMap {
            previousCall(of: $0.observer, from: index.posts[Int($0.post)].cause)?.span
        }
        // A handler that ends the program, other than by a signal, does not continue.
        let open = zip(Int32(0)..., index.spans).filter { _, span in
            !span.isWait && span.ending == .open && words.hasEndedProcess(span.thread) == false
        }
        return Set(posting + open.map(\.0))
    }
}
