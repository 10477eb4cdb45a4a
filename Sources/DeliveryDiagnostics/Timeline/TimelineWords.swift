internal import DeliveryRecording
internal import TerminalText

/// The texts of a timeline.
extension Timeline {
    static let heading = ["what", "post", "latency", "lasts", ""]

    /// The columns of a row: what happens, such as `deliver`; the post, `#3`, or `#3…#9` for several; the time since the
    /// post; how long it takes; and the rest of the record.
    func cells(of row: Row) -> [String] {
        let (entry, isRun) = (index.entry(row.entry), row.count > 1)
        let what = entry.stage == .append ? "perform" : entry.stage.rawValue
        func post(_ record: Int32) -> String {
            let post = index.entry(record).post
            return post < 0 ? "" : "#\(recording.posts[Int(post)].number)"
        }
        let words = RecordWords(index: index)
        let name = entry.name >= 0 ? words.name(entry.name) : entry.post >= 0 ? "block" : nil
        let description =
            [row.waiting > 0 ? "\(row.waiting) still waiting" : nil, name].compactMap(\.self)
            + (row.part == .end ? [] : words.details(of: entry) + [words.location(of: row.entry, "at ")])
        return [
            isRun ? "\(what) ×\(row.count)" : what,
            post(row.entry) + (isRun && entry.post >= 0 ? "…\(post(row.last))" : ""),
            row.arrow < 0 || isRun ? "" : "\(ElapsedTime(nanoseconds: time(row.entry) - time(row.arrow)))",
            duration(of: row),
            description.filter { !$0.isEmpty }.joined(separator: ", "),
        ]
    }

    func milliseconds(_ row: Row) -> String { ElapsedTime.decimal(time(row.entry), per: 1_000_000, decimals: 3) }

    private func duration(of row: Row) -> String {
        if row.count > 1 { return ElapsedTime(nanoseconds: time(row.last) - time(row.entry)).description }
        guard row.span >= 0, case let span = index.spans[Int(row.span)] else { return "" }
        return index.duration(of: span).map(ElapsedTime.text) ?? (span.ending == .notRecorded ? "" : "runs on")
    }

    /// The size of the recording, and why this part is drawn.
    var overview: [String] {
        let length = ElapsedTime(nanoseconds: max(0, recording.entries.last.map(recording.elapsed) ?? 0))
        let size =
            "\(counted(recording.threads.count, "thread")), \(length), \(counted(recording.entries.count, "record")), "
            + "\(counted(rows.count, "row")): \(ShownText.escaped(recording.source))"
        return [size, window?.words].compactMap(\.self)
    }

    /// The lanes, if their titles are not all in the drawing.
    var threads: String { "Threads: \(lanes.map(\.title).joined(separator: ", "))." }

    /// Where the drawing ends, if that is before the end of what is selected.
    var end: String? {
        limitReached.map { time in
            let next = ElapsedTime.exact(time)
            return "The drawing ends at \(counted(rows.count, "row")): --from \(next) continues there, "
                + "--limit 0 draws everything."
        }
    }
}
