internal import DeliveryRecording
internal import TerminalText
internal import ThreadedNotifications

extension Detector {
    private static let maximumPosters = 5

    /// Finds threads that receive more notifications than they handle.
    static let flood = Detector("flood", "a thread receives more notifications than it handles", limits: .depth) {
        evidence in
        let (index, words, changes) = (evidence.index, evidence.words, evidence.index.depthChanges)
        return zip(Int32(0)..., index.depths()).filter { $1.highest > evidence.limits.depth }.map { thread, peak in
            let waiting = (0...peak.highestEntry).filter { number in
                guard changes[Int(number)] == thread + 1, case let end = index.waitEnd(number) else { return false }
                return end < 0 || end > peak.highestEntry
            }
            let posters = waiting.grouped { number in
                let source = words.source(ofPost: index.entry(number).post)
                let entry = index.entry(source < 0 ? number : source)
                return [entry.thread, entry.name, entry.location]
            }.sorted { ($1.count, $0[0]) < ($0.count, $1[0]) }
            let details = posters.prefix(maximumPosters).map { posts in
                let source = words.source(ofPost: index.entry(posts[0]).post)
                let entry = index.entry(source < 0 ? posts[0] : source)
                return "\(posts.count) of them: \(words.thread(entry.thread)) posts "
                    + "\(entry.name < 0 ? "blocks" : words.name(entry.name))\(words.location(of: source, " at "))"
            }
            let more = posters.count - details.count
            let elapsed = UInt64(max(0, evidence.recording.elapsed(index.entry(peak.highestEntry))))
            return Finding(
                problem: "\(peak.highest) notifications were waiting for \(words.thread(thread)) at the same time, "
                    + "\(ElapsedTime.text(elapsed)) after the beginning. The limit is \(evidence.limits.depth).",
                evidence: [waiting.first ?? -1, peak.highestEntry],
                details: ["depth over time: \(sparkline(thread, changes, index)) (highest \(peak.highest))"] + details
                    + (more > 0 ? ["and \(counted(more, "poster")) more"] : []),
                remedy: "Post less often, or coalesce: ObserverOptions(overflow: .keepLatest), a PostingQueue, or "
                    + "postAndWait, which slows the posters down.", weight: peak.highest,
                name: posters.first.map { index.entry($0[0]).name } ?? -1)
        }
    }

    /// The highest depth in each of 40 equal spans of the recording's time.
    private static func sparkline(_ thread: Int32, _ changes: [Int32], _ index: RecordingIndex) -> String {
        let (entries, bars) = (index.recording.entries, Array("▁▂▃▄▅▆▇█"))
        guard let start = entries.first?.time, let end = entries.last?.time else { return "" }
        var highest = Array(repeating: 0, count: 40)
        let span = max(1, (end - start) / UInt64(highest.count) + 1)
        var (depth, column) = (0, 0)
        for (number, entry) in entries.enumerated() {
            let next = min(highest.count - 1, Int((entry.time &- start) / span))
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
