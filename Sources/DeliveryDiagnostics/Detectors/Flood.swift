internal import DeliveryRecording
internal import TerminalText
internal import ThreadedNotifications

extension Detector {
    private static let columns = 40
    private static let maximumPosters = 5
    private static let bars: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

    /// Finds threads that receive more notifications than they handle.
    static let flood = Detector("flood", "a thread receives more notifications than it handles", limits: .depth) {
        evidence in
        let depths = evidence.index.depths()
        return depths.indices.filter { depths[$0].highest > evidence.limits.depth }.map { thread in
            finding(Int32(thread), depths[thread], evidence.index.depthChanges, evidence.words, evidence.limits)
        }
    }

    private static func finding(
        _ thread: Int32, _ peak: RecordingIndex.Depth, _ changes: [Int32], _ words: RecordWords,
        _ limits: DiagnosisLimits
    ) -> Finding {
        let index = words.index
        /// By thread, name and source location.
        var posters: [[Int32]: Int] = [:]
        var first: Int32 = -1
        for number in 0...peak.highestEntry where changes[Int(number)] == thread + 1 {
            let end = index.waitEnd(number)
            guard end < 0 || end > peak.highestEntry else { continue }
            let source = words.source(ofPost: index.entry(number).post)
            let entry = index.entry(source < 0 ? number : source)
            posters[[entry.thread, entry.name, entry.location], default: 0] += 1
            if first < 0 { first = number }
        }
        let top = posters.sorted {
            ($1.value, $0.key[0], $0.key[1], $0.key[2]) < ($0.value, $1.key[0], $1.key[1], $1.key[2])
        }
        var details = ["depth over time: \(sparkline(thread, changes, index)) (highest \(peak.highest))"]
        details += top.prefix(maximumPosters).map { poster, count in
            let location =
                poster[2] < 0 ? "" : " at \(Excerpt.of(index.recording.locations[Int(poster[2])].description))"
            let what = poster[1] < 0 ? "blocks" : words.name(poster[1])
            return "\(count) of them: \(words.thread(poster[0])) posts \(what)\(location)"
        }
        if top.count > maximumPosters { details.append("and \(counted(top.count - maximumPosters, "poster")) more") }
        let elapsed = UInt64(max(0, index.recording.elapsed(index.entry(peak.highestEntry))))
        return Finding(
            severity: .problem,
            problem: "\(peak.highest) notifications were waiting for \(words.thread(thread)) at the same time, "
                + "\(ElapsedTime.text(elapsed)) after the beginning. The limit is \(limits.depth).",
            evidence: [first, peak.highestEntry], details: details,
            remedy: "Post less often, or coalesce: ObserverOptions(overflow: .keepLatest), a PostingQueue, or "
                + "postAndWait, which slows the posters down.", weight: peak.highest, name: top.first?.key[1] ?? -1)
    }

    /// The highest depth in each of 40 equal spans of the recording's time.
    private static func sparkline(_ thread: Int32, _ changes: [Int32], _ index: RecordingIndex) -> String {
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
            if changes[number].magnitude == thread + 1 { depth += Int(changes[number].signum()) }
            highest[column] = max(highest[column], depth)
        }
        let top = max(1, highest.max() ?? 1)
        return String(highest.map { $0 <= 0 ? "·" : bars[min(bars.count - 1, $0 * bars.count / (top + 1))] })
    }
}
