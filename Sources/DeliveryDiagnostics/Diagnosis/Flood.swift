internal import DeliveryRecording
internal import ThreadedNotifications

/// Finds threads that receive more notifications than they handle.
enum Flood {
    private static let columns = 40
    private static let maximumPosters = 5
    private static let bars: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

    static func findings(_ index: RecordingIndex, _ limits: DiagnosisLimits) -> [Finding] {
        let count = index.recording.entries.count
        // For each entry: the thread for which a wait begins or ends there.
        var begins = Array(repeating: Int32(-1), count: count)
        var ends = Array(repeating: Int32(-1), count: count)
        for delivery in index.deliveries {
            guard let (begin, end, thread) = wait(of: delivery, index) else { continue }
            begins[Int(begin)] = thread
            if end >= 0 { ends[Int(end)] = thread }
        }
        var depths = Array(repeating: 0, count: index.threads.count)
        var peaks = depths.map { _ in (depth: 0, entry: Int32(-1)) }
        for entry in 0..<count {
            let (begin, end) = (Int(begins[entry]), Int(ends[entry]))
            if begin >= 0 {
                depths[begin] += 1
                if depths[begin] > peaks[begin].depth { peaks[begin] = (depths[begin], Int32(entry)) }
            }
            if end >= 0 { depths[end] -= 1 }
        }
        return peaks.indices.filter { peaks[$0].depth > limits.depth }.map { thread in
            finding(Int32(thread), peaks[thread], begins: begins, ends: ends, index, limits)
        }
    }

    /// The time that a notification waits for a thread, as its first and last entry; nil if it does not wait. In the
    /// document's technique it waits if a different thread handles it.
    private static func wait(
        of delivery: RecordingIndex.Delivery, _ index: RecordingIndex
    ) -> (begin: Int32, end: Int32, thread: Int32)? {
        if delivery.kind == .redirected {
            let posted = index.posts[Int(delivery.post)].posted
            guard posted >= 0, delivery.outcome > posted else { return nil }
            let thread = index.entry(delivery.outcome).thread
            return thread == index.entry(posted).thread ? nil : (posted, delivery.outcome, thread)
        }
        guard delivery.append >= 0, delivery.outcome < 0 || delivery.outcome > delivery.append else { return nil }
        let thread = index.target(of: delivery)
        return thread < 0 ? nil : (delivery.append, delivery.outcome, thread)
    }

    private static func finding(
        _ thread: Int32, _ peak: (depth: Int, entry: Int32), begins: [Int32], ends: [Int32],
        _ index: RecordingIndex, _ limits: DiagnosisLimits
    ) -> Finding {
        struct Poster: Hashable {
            var thread: Int32
            var name: Int32
            var location: Int32
        }
        let words = RecordWords(index)
        var posters: [Poster: Int] = [:]
        var first: Int32 = .max
        for delivery in index.deliveries {
            guard let wait = wait(of: delivery, index), wait.thread == thread, wait.begin <= peak.entry,
                wait.end < 0 || wait.end > peak.entry
            else { continue }
            let source = words.source(ofPost: delivery.post)
            let entry = index.entry(source < 0 ? wait.begin : source)
            posters[Poster(thread: entry.thread, name: entry.name, location: entry.place), default: 0] += 1
            first = min(first, wait.begin)
        }
        let top = posters.sorted {
            ($1.value, $0.key.thread, $0.key.name, $0.key.location)
                < ($0.value, $1.key.thread, $1.key.name, $1.key.location)
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
        if top.count > maximumPosters { details.append("and \(counted(top.count - maximumPosters, "poster")) more") }
        let elapsed = UInt64(max(0, index.recording.elapsed(index.entry(peak.entry))))
        return Finding(
            kind: .flood, severity: .problem,
            problem: "\(peak.depth) notifications were waiting for \(words.thread(thread)) at the same time, "
                + "\(ElapsedTime.text(elapsed)) after the beginning. The limit is \(limits.depth).",
            evidence: [first == .max ? -1 : first, peak.entry], details: details,
            remedy:
                "Post less often, or coalesce: ObserverOptions(overflow: .keepLatest), a PostingQueue, or a bounded "
                + "policy such as .block, which slows the posters down.",
            weight: peak.depth, name: top.first?.key.name ?? -1)
    }

    /// The highest depth in each of 40 equal spans of the recording's time.
    private static func sparkline(_ thread: Int32, begins: [Int32], ends: [Int32], _ index: RecordingIndex) -> String {
        let entries = index.recording.entries
        guard let start = entries.first?.time, let end = entries.last?.time else { return "" }
        let span = max(1, (end - start) / UInt64(columns) + 1)
        var highest = Array(repeating: 0, count: columns)
        var (depth, column) = (0, 0)
        for (number, entry) in entries.enumerated() {
            let next = min(columns - 1, Int((entry.time &- start) / span))
            while column < next {
                column += 1
                highest[column] = depth
            }
            if begins[number] == thread { depth += 1 }
            if ends[number] == thread { depth -= 1 }
            highest[column] = max(highest[column], depth)
        }
        let top = max(1, highest.max() ?? 1)
        return String(highest.map { $0 <= 0 ? "·" : bars[min(bars.count - 1, $0 * bars.count / (top + 1))] })
    }
}
