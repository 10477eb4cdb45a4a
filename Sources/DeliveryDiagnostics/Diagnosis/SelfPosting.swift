internal import DeliveryRecording
internal import ThreadedNotifications

/// Finds handlers that cause their own next call, again and again.
enum SelfPosting {
    /// The maximum number of other observers between two calls of an observer.
    private static let maximumDistance = 8
    /// A chain of at least this length that continues until the end of the recording is a finding.
    private static let minimumContinuing = 10

    static func findings(_ index: RecordingIndex, _ limits: DiagnosisLimits) -> [Finding] {
        let lengths = lengths(index)
        /// For each observer: its longest chain, and the last call of it.
        var longest: [Int32: (length: Int32, span: Int)] = [:]
        for (number, span) in index.spans.enumerated() where lengths[number] > 1 {
            let observer = observer(span, index)
            if lengths[number] > longest[observer]?.length ?? 1 { longest[observer] = (lengths[number], number) }
        }
        guard !longest.isEmpty else { return [] }
        let continuing = continuing(index)
        let found = longest.filter { _, chain in
            chain.length > limits.chain
                || continuing.contains(Int32(chain.span)) && chain.length >= minimumContinuing
        }
        /// Observers that are part of another observer's chain are reported with that chain.
        var reported: Set<Int32> = []
        var findings: [Finding] = []
        for (observer, chain) in found.sorted(by: { ($1.value.length, $0.key) < ($0.value.length, $1.key) }) {
            guard reported.insert(observer).inserted else { continue }
            let others = others(before: index.spans[chain.span], index)
            reported.formUnion(others)
            let isGoing = continuing.contains(Int32(chain.span))
            findings.append(finding(observer, chain, others, continues: isGoing, RecordWords(index)))
        }
        return findings
    }

    private static func finding(
        _ observer: Int32, _ chain: (length: Int32, span: Int), _ others: [Int32], continues: Bool, _ words: RecordWords
    ) -> Finding {
        let index = words.index
        let entry = index.entry(index.spans[chain.span].begin)
        let way = others.isEmpty ? "" : " through " + others.map { words.observer($0) }.joined(separator: " and ")
        return Finding(
            kind: .selfPosting, severity: continues ? .problem : .note,
            problem:
                "\(words.observer(observer)) causes its own next call\(way), \(chain.length) times in a row"
                + (continues ? ", and still does when the recording ends." : "."),
            evidence: [
                words.registered(observer), entry.post < 0 ? -1 : index.posts[Int(entry.post)].posted,
                index.spans[chain.span].begin,
            ],
            remedy: "Post in the handler only if something changed. If it works step by step, do not post in the last "
                + "step.",
            weight: Int(chain.length), name: entry.name)
    }

    /// The observer of a handler; -1 for a block or a wait.
    private static func observer(_ span: RecordingIndex.Span, _ index: RecordingIndex) -> Int32 {
        span.isWait ? -1 : index.entry(span.begin).observer
    }

    /// The handlers that caused a handler, the nearest first: indices of spans.
    private static func causes(
        of span: RecordingIndex.Span, _ index: RecordingIndex
    ) -> some Sequence<Int> {
        func cause(_ span: RecordingIndex.Span) -> Int? {
            guard span.delivery >= 0 else { return nil }
            let cause = index.posts[Int(index.deliveries[Int(span.delivery)].post)].cause
            return cause < 0 ? nil : Int(cause)
        }
        return sequence(state: cause(span)) { next in
            guard let found = next else { return nil }
            next = cause(index.spans[found])
            return found
        }.prefix(maximumDistance + 1)
    }

    /// The other observers that were called between a handler and the previous call of the same observer.
    private static func others(before span: RecordingIndex.Span, _ index: RecordingIndex) -> [Int32] {
        var others: [Int32] = []
        for cause in causes(of: span, index).prefix(maximumDistance) {
            let other = observer(index.spans[cause], index)
            if other == observer(span, index) { break }
            if other >= 0, !others.contains(other) { others.append(other) }
        }
        return others
    }

    /// For each span: the length of its chain of calls of the same observer, each caused by the one before.
    private static func lengths(_ index: RecordingIndex) -> [Int32] {
        var lengths = Array(repeating: Int32(1), count: index.spans.count)
        for (number, span) in index.spans.enumerated() {
            let observer = observer(span, index)
            guard observer >= 0 else { continue }
            for cause in causes(of: span, index) {
                // A cause with a later index occurs only in a damaged recording.
                guard cause < number else { break }
                if self.observer(index.spans[cause], index) == observer {
                    lengths[number] = lengths[cause] + 1
                    break
                }
            }
        }
        return lengths
    }

    /// The handlers that are still running, or that made a post that is still pending for the same observer.
    private static func continuing(_ index: RecordingIndex) -> Set<Int32> {
        var continuing: Set<Int32> = []
        for delivery in index.deliveries where delivery.observer >= 0 && delivery.isPending {
            var cause = index.posts[Int(delivery.post)].cause
            for _ in 0...maximumDistance where cause >= 0 {
                let span = index.spans[Int(cause)]
                if observer(span, index) == delivery.observer {
                    continuing.insert(cause)
                    break
                }
                cause = span.delivery < 0 ? -1 : index.posts[Int(index.deliveries[Int(span.delivery)].post)].cause
            }
        }
        for (number, span) in index.spans.enumerated() where !span.isWait && span.ending == .open && !ends(span, index)
        {
            continuing.insert(Int32(number))
        }
        return continuing
    }

    /// True if the program was ended inside the handler, and not by a signal.
    private static func ends(_ span: RecordingIndex.Span, _ index: RecordingIndex) -> Bool {
        let end = index.processes[Int(index.recording.threads[Int(span.thread)].process)].end
        return end >= 0 && index.entry(end).thread == span.thread && index.entry(end).reason?.isSignal != true
    }
}
