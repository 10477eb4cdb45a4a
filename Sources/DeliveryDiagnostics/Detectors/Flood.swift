internal import DeliveryRecording
internal import ThreadedNotifications

/// Finds threads that receive more notifications than they handle.
enum Flood {
    private static let columns = 40
    private static let maximumPosters = 5
    private static let bars: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

    /// For each entry: the thread for which a wait begins there, and the one for which a wait ends there, or -1.
    private typealias Waits = (begins: [Int32], ends: [Int32])

    static func findings(_ evidence: Evidence) -> [Finding] {
        let (words, limits) = (evidence.words, evidence.limits)
        let index = words.index
        let none: [Int32] = Array(repeating: -1, count: index.recording.entries.count)
        var waits: Waits = (none, none)
        for delivery in index.deliveries {
            guard let wait = wait(of: delivery, index) else { continue }
            waits.begins[Int(wait.begin)] = wait.thread
            if wait.end >= 0 { waits.ends[Int(wait.end)] = wait.thread }
        }
        var depths = Array(repeating: 0, count: index.threads.count)
        var peaks = depths.map { _ in (depth: 0, entry: Int32(-1)) }
        for entry in none.indices {
            let (begin, end) = (Int(waits.begins[entry]), Int(waits.ends[entry]))
            if begin >= 0 {
                depths[begin] += 1
                if depths[begin] > peaks[begin].depth { peaks[begin] = (depths[begin], Int32(entry)) }
            }
            if end >= 0 { depths[end] -= 1 }
        }
        return peaks.indices.filter { peaks[$0].depth > limits.depth }.map { thread in
            finding(Int32(thread), peaks[thread], waits, words, limits)
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
        _ thread: Int32, _ peak: (depth: Int, entry: Int32), _ waits: Waits, _ words: RecordWords,
        _ limits: DiagnosisLimits
    ) -> Finding {
        let index = words.index
        /// By thread, name and source location.
        var posters: [[Int32]: Int] = [:]
        var first: Int32 = -1
        for delivery in index.deliveries {
            guard let wait = wait(of: delivery, index), wait.thread == thread, wait.begin <= peak.entry,
                wait.end < 0 || wait.end > peak.entry
            else { continue }
            let source = words.source(ofPost: delivery.post)
            let entry = index.entry(source < 0 ? wait.begin : source)
            posters[[entry.thread, entry.name, entry.location], default: 0] += 1
            if first < 0 || wait.begin < first { first = wait.begin }
        }
        let top = posters.sorted {
            ($1.value, $0.key[0], $0.key[1], $0.key[2]) < ($0.value, $1.key[0], $1.key[1], $1.key[2])
        }
        var details = ["depth over time: \(sparkline(thread, waits, index)) (highest \(peak.depth))"]
        details += top.prefix(maximumPosters).map { poster, count in
            let location =
                poster[2] < 0 ? "" : " at \(Excerpt.of(index.recording.locations[Int(poster[2])].description))"
            let what = poster[1] < 0 ? "blocks" : words.name(poster[1])
            return "\(count) of them: \(words.thread(poster[0])) posts \(what)\(location)"
        }
        if top.count > maximumPosters { details.append("and \(counted(top.count - maximumPosters, "poster")) more") }
        let elapsed = UInt64(max(0, index.recording.elapsed(index.entry(peak.entry))))
        return Finding(
            severity: .problem,
            problem: "\(peak.depth) notifications were waiting for \(words.thread(thread)) at the same time, "
                + "\(ElapsedTime.text(elapsed)) after the beginning. The limit is \(limits.depth).",
            evidence: [first, peak.entry], details: details,
            remedy:
                "Post less often, or coalesce: ObserverOptions(overflow: .keepLatest), a PostingQueue, or "
                + "postAndWait, which slows the posters down.",
            weight: peak.depth, name: top.first?.key[1] ?? -1)
    }

    /// The highest depth in each of 40 equal spans of the recording's time.
    private static func sparkline(_ thread: Int32, _ waits: Waits, _ index: RecordingIndex) -> String {
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
            if waits.begins[number] == thread { depth += 1 }
            if waits.ends[number] == thread { depth -= 1 }
            highest[column] = max(highest[column], depth)
        }
        let top = max(1, highest.max() ?? 1)
        return String(highest.map { $0 <= 0 ? "·" : bars[min(bars.count - 1, $0 * bars.count / (top + 1))] })
    }
}

extension Finding.Kind {
    static let flood = Finding.Kind("flood", "a thread receives more notifications than it handles", limits: .depth)
}
