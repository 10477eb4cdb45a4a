internal import DeliveryRecording

/// Handlers that cause their own next call, again and again.
extension Evidence {
    /// One finding for each observer, also if several cause each other's calls.
    var selfPosting: [Finding] {
        /// For each span: the length of its chain of calls of the same observer, each caused by the one before.
        var lengths = Array(repeating: 1, count: index.spans.count)
        /// For each observer: the last call of its longest chain.
        var longest: [Int32: Int] = [:]
        for (number, span) in index.spans.enumerated() {
            let observer = index.observer(of: span)
            // A cause with a later index occurs only in a damaged recording.
            guard observer >= 0, let previous = previousCall(of: observer, from: index.cause(of: span)),
                previous < number
            else { continue }
            lengths[number] = lengths[previous] + 1
            if lengths[number] > longest[observer].map({ lengths[$0] }) ?? 1 { longest[observer] = number }
        }
        let continuing = longest.isEmpty ? [] : continuingCalls
        return longest.compactMap { observer, call in
            let (begin, length, continues) = (index.spans[call].begin, lengths[call], continuing.contains(call))
            // A chain of ten that continues until the end of the recording is a finding.
            guard length > limits.chain || continues && length >= 10 else { return nil }
            return Finding(
                severity: continues ? .problem : .note,
                problem: "\(words.observer(observer)) causes its own next call, \(length) times in a row"
                    + (continues ? ", and still does when the recording ends." : "."),
                evidence: [words.registered(observer), words.posted(index.entry(begin)), begin],
                remedy: "Post in the handler only if something changed, and not in the last step.", weight: length)
        }
    }

    /// Follows the causes of a call, in `spans`, to the previous call of the observer, past at most eight of others.
    private func previousCall(of observer: Int32, from cause: Int32) -> Int? {
        var cause = cause
        for _ in 0...8 where cause >= 0 {
            if index.observer(of: index.spans[Int(cause)]) == observer { return Int(cause) }
            cause = index.cause(of: index.spans[Int(cause)])
        }
        return nil
    }

    /// The handlers that are still running, or that made a post that is still pending for the same observer.
    private var continuingCalls: Set<Int> {
        let posting = index.deliveries.filter { $0.observer >= 0 && $0.isPending }.compactMap {
            previousCall(of: $0.observer, from: index.posts[Int($0.post)].cause)
        }
        // A handler that ends the program, other than by a signal, does not continue.
        let open = index.spans.enumerated().filter { _, span in
            !span.isWait && span.ending == .open && words.hasEndedProcess(span.thread) == false
        }
        return Set(posting + open.map(\.offset))
    }
}
