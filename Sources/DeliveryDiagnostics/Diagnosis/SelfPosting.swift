internal import DeliveryRecording
internal import ThreadedNotifications

/// Finds handlers that cause their own next call, again and again.
enum SelfPosting {
    /// The maximum number of other observers between two calls of an observer.
    private static let maximumDistance = 8
    /// A chain of at least this length that continues until the end of the recording is a finding.
    private static let minimumContinuing = 10

    static func findings(_ index: DeliveryIndex, _ limits: DiagnosisLimits) -> [Finding] {
        let lengths = lengths(index)
        var longest: [Int32: (length: Int32, handler: Int)] = [:]
        for (number, handler) in index.handlers.enumerated() where handler.observer >= 0 {
            if lengths[number] > longest[handler.observer]?.length ?? 1 {
                longest[handler.observer] = (lengths[number], number)
            }
        }
        let continuing = continuing(index)
        let found = longest.filter { _, chain in
            chain.length > limits.chain
                || continuing.contains(Int32(chain.handler)) && chain.length >= minimumContinuing
        }
        /// Observers that are part of another observer's chain are reported with that chain.
        var reported: Set<Int32> = []
        var findings: [Finding] = []
        for (observer, chain) in found.sorted(by: { ($1.value.length, $0.key) < ($0.value.length, $1.key) }) {
            guard reported.insert(observer).inserted else { continue }
            let others = others(between: chain.handler, index)
            reported.formUnion(others)
            findings.append(
                finding(
                    observer, chain, others, continues: continuing.contains(Int32(chain.handler)), DiagnosisWords(index)
                ))
        }
        return findings
    }

    private static func finding(
        _ observer: Int32, _ chain: (length: Int32, handler: Int), _ others: [Int32], continues: Bool,
        _ words: DiagnosisWords
    ) -> Finding {
        let index = words.index
        let handler = index.handlers[chain.handler]
        let posted = handler.pair < 0 ? -1 : index.posted[Int(index.pairs[Int(handler.pair)].post)]
        let way = others.isEmpty ? "" : " through " + others.map { words.observer($0) }.joined(separator: " and ")
        return Finding(
            kind: .selfPosting, severity: continues ? .problem : .note,
            problem:
                "\(words.observer(observer)) causes its own next call\(way), \(chain.length) times in a row"
                + (continues ? ", and still does when the recording ends." : "."),
            evidence: [index.registered[Int(observer)], posted, handler.deliver].filter { $0 >= 0 },
            remedy: "Post in the handler only if something changed. If it works step by step, do not post in the last "
                + "step.",
            weight: Int(chain.length))
    }

    /// The other observers that were called between a handler and the previous call of the same observer.
    private static func others(between handler: Int, _ index: DeliveryIndex) -> [Int32] {
        var others: [Int32] = []
        var cause = cause(of: index.handlers[handler], index)
        for _ in 0..<maximumDistance {
            guard cause >= 0, index.handlers[Int(cause)].observer != index.handlers[handler].observer else { break }
            let other = index.handlers[Int(cause)]
            if other.observer >= 0, !others.contains(other.observer) { others.append(other.observer) }
            cause = self.cause(of: other, index)
        }
        return others
    }

    /// For each handler: the length of its chain of calls of the same observer, each caused by the one before.
    private static func lengths(_ index: DeliveryIndex) -> [Int32] {
        var lengths = Array(repeating: Int32(1), count: index.handlers.count)
        for (number, handler) in index.handlers.enumerated() where handler.observer >= 0 {
            var cause = cause(of: handler, index)
            for _ in 0...maximumDistance {
                // A cause with a later index occurs only in a damaged recording.
                guard cause >= 0, cause < number else { break }
                let before = index.handlers[Int(cause)]
                if before.observer == handler.observer {
                    lengths[number] = lengths[Int(cause)] + 1
                    break
                }
                cause = self.cause(of: before, index)
            }
        }
        return lengths
    }

    private static func cause(of handler: DeliveryIndex.Handler, _ index: DeliveryIndex) -> Int32 {
        handler.pair < 0 ? -1 : index.cause[Int(index.pairs[Int(handler.pair)].post)]
    }

    /// The handlers that are still running, or that made a post that is still pending for the same observer.
    private static func continuing(_ index: DeliveryIndex) -> Set<Int32> {
        var continuing: Set<Int32> = []
        for pair in index.pairs where pair.observer >= 0 && index.isPending(pair) {
            var cause = index.cause[Int(pair.post)]
            for _ in 0...maximumDistance {
                guard cause >= 0 else { break }
                if index.handlers[Int(cause)].observer == pair.observer {
                    continuing.insert(cause)
                    break
                }
                cause = self.cause(of: index.handlers[Int(cause)], index)
            }
        }
        for (number, handler) in index.handlers.enumerated() where handler.returned < 0 && !ends(handler, index) {
            continuing.insert(Int32(number))
        }
        return continuing
    }

    /// True if the program was ended inside the handler, and not by a signal.
    private static func ends(_ handler: DeliveryIndex.Handler, _ index: DeliveryIndex) -> Bool {
        let end = index.end[Int(index.recording.threads[Int(handler.thread)].process)]
        guard end >= 0, index.entry(end).thread == handler.thread else { return false }
        return index.entry(end).reason?.isSignal != true
    }
}
