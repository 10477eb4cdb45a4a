internal import DeliveryRecording
internal import ThreadedNotifications

/// Finds threads that receive more notifications than they handle.
enum Flood {
    private static let columns = 40
    private static let maximumPosters = 5
    private static let bars: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

    /// The time a notification waits for a thread, as indices of its first and last entry.
    private struct Wait {
        var pair: Int32
        var thread: Int32
        var begin: Int32
        var end: Int32
    }

    static func findings(_ index: DeliveryIndex, _ limits: DiagnosisLimits) -> [Finding] {
        let waits = waits(index)
        let count = index.recording.entries.count
        // For each entry: the thread for which a wait begins or ends there.
        var depths = Array(repeating: 0, count: index.recording.threads.count)
        var begins = Array(repeating: Int32(-1), count: count)
        var ends = Array(repeating: Int32(-1), count: count)
        for wait in waits {
            begins[Int(wait.begin)] = wait.thread
            if wait.end >= 0 { ends[Int(wait.end)] = wait.thread }
        }
        var peaks = depths.map { _ in (depth: 0, entryIndex: Int32(-1)) }
        for entryIndex in 0..<count {
            let (begin, end) = (Int(begins[entryIndex]), Int(ends[entryIndex]))
            if begin >= 0 {
                depths[begin] += 1
                if depths[begin] > peaks[begin].depth { peaks[begin] = (depths[begin], Int32(entryIndex)) }
            }
            if end >= 0 { depths[end] -= 1 }
        }
        return peaks.indices.filter { peaks[$0].depth > limits.depth }.map { thread in
            finding(
                Int32(thread), peaks[thread], waits.filter { $0.thread == thread }, begins: begins, ends: ends,
                index, limits)
        }
    }

    /// Notifications that were handed to another thread, or appended to a mailbox. In the document's technique a
    /// notification waits from its capture until a different thread handles it.
    private static func waits(_ index: DeliveryIndex) -> [Wait] {
        var waits: [Wait] = []
        waits.reserveCapacity(index.pairs.count)
        for (number, pair) in index.pairs.enumerated() {
            if pair.kind == .redirected {
                let posted = index.posted[Int(pair.post)]
                guard posted >= 0, pair.outcome > posted, index.entry(pair.outcome).thread != index.entry(posted).thread
                else { continue }
                waits.append(
                    Wait(
                        pair: Int32(number), thread: index.entry(pair.outcome).thread, begin: posted, end: pair.outcome)
                )
            } else if pair.append >= 0, pair.outcome < 0 || pair.outcome > pair.append {
                let thread = index.target(of: pair)
                guard thread >= 0 else { continue }
                waits.append(Wait(pair: Int32(number), thread: thread, begin: pair.append, end: pair.outcome))
            }
        }
        return waits
    }

    private static func finding(
        _ thread: Int32, _ peak: (depth: Int, entryIndex: Int32), _ waits: [Wait], begins: [Int32], ends: [Int32],
        _ index: DeliveryIndex, _ limits: DiagnosisLimits
    ) -> Finding {
        struct Poster: Hashable {
            var thread: Int32
            var name: Int32
            var location: Int32
        }
        var posters: [Poster: Int] = [:]
        var first: Int32 = .max
        for wait in waits where wait.begin <= peak.entryIndex && (wait.end < 0 || wait.end > peak.entryIndex) {
            let pair = index.pairs[Int(wait.pair)]
            let posted = index.posted[Int(pair.post)]
            let enqueued = index.enqueued[Int(pair.post)]
            let source = index.entry(enqueued >= 0 ? enqueued : posted >= 0 ? posted : wait.begin)
            posters[Poster(thread: source.thread, name: source.name, location: source.place), default: 0] += 1
            first = min(first, wait.begin)
        }
        let words = DiagnosisWords(index)
        let top = posters.sorted {
            ($1.value, $0.key.thread, $0.key.name, $0.key.location) < (
                $0.value, $1.key.thread, $1.key.name, $1.key.location
            )
        }
        var details = [
            "depth over time: \(sparkline(thread, begins: begins, ends: ends, index)) (highest \(peak.depth))"
        ]
        for (poster, count) in top.prefix(maximumPosters) {
            let what = poster.name < 0 ? "blocks" : words.name(poster.name)
            let location =
                poster.location < 0 ? "" : " at \(Excerpt.of(index.recording.places[Int(poster.location)].description))"
            details.append("\(count) of them: \(words.thread(poster.thread)) posts \(what)\(location)")
        }
        if top.count > maximumPosters {
            details.append("and \(words.count(top.count - maximumPosters, "poster")) more")
        }
        let elapsed = UInt64(max(0, index.recording.elapsed(index.entry(peak.entryIndex))))
        return Finding(
            kind: .flood, severity: .problem,
            problem: "\(peak.depth) notifications were waiting for \(words.thread(thread)) at the same time, "
                + "\(ElapsedTime.text(elapsed)) after the beginning. The limit is \(limits.depth).",
            evidence: first == .max || first == peak.entryIndex ? [peak.entryIndex] : [first, peak.entryIndex],
            details: details,
            remedy:
                "Post less often, or coalesce: ObserverOptions(overflow: .keepLatest), a PostingQueue, or a bounded "
                + "policy such as .block, which slows the posters down.",
            weight: peak.depth)
    }

    /// The highest depth in each of 40 equal spans of the recording's time.
    private static func sparkline(
        _ thread: Int32, begins: [Int32], ends: [Int32], _ index: DeliveryIndex
    ) -> String {
        let entries = index.recording.entries
        guard let start = entries.first?.time, let end = entries.last?.time else { return "" }
        let span = max(1, (end - start) / UInt64(columns) + 1)
        var highest = Array(repeating: 0, count: columns)
        var (depth, column) = (0, 0)
        for (entryIndex, entry) in entries.enumerated() {
            let next = min(columns - 1, Int((entry.time &- start) / span))
            while column < next {
                column += 1
                highest[column] = depth
            }
            if begins[entryIndex] == thread { depth += 1 }
            if ends[entryIndex] == thread { depth -= 1 }
            highest[column] = max(highest[column], depth)
        }
        let top = max(1, highest.max() ?? 1)
        return String(highest.map { $0 <= 0 ? "·" : bars[min(bars.count - 1, $0 * bars.count / (top + 1))] })
    }
}
