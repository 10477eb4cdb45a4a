internal import DeliveryRecording
internal import TerminalText
internal import ThreadedNotifications

/// The texts of an item of a timeline.
struct TimelineLabel {
    var what: String
    /// For example `#3`.
    var post: String?
    var name: String?
    /// The outcome of a post, if nothing else in the drawing shows it.
    var outcome: String?
    var details: [String] = []
    var location: SourceLocation?
    /// The line of the file, or the sequence number if the record is not from a file.
    var line = 0

    /// The description of a row, in at most `room` columns.
    ///
    /// Facts that are not visible elsewhere come first. If the text is too long, first the directory of the source
    /// location is dropped, then its file, then the middle of the name.
    func description(room: Int, _ symbols: TimelineSymbols) -> String {
        func words(_ name: String?, _ location: String?) -> String {
            ([outcome, name] + details.map(symbols.text) + [location.map { "at \($0)" }])
                .compactMap(\.self).joined(separator: ", ")
        }
        let name = name.map(symbols.text)
        let whole = location.map { symbols.text("\($0)") }
        let file = whole.map { $0.split(separator: "/").last.map(String.init) ?? $0 }
        let line = location.flatMap { $0.line > 0 ? "\(symbols.ellipsis):\($0.line)" : nil }
        let fitting = [whole, file, line ?? file].lazy.map { words(name, $0) }.first { DisplayWidth.of($0) <= room }
        if let fitting { return fitting }
        for location in line == nil ? [nil] : [line, nil] {
            // Names shorter than 8 columns cannot be told apart.
            let nameRoom = room - DisplayWidth.of(words("", location))
            if let name, nameRoom >= 8 {
                return words(DisplayWidth.fitMiddle(name, to: nameRoom, ellipsis: symbols.ellipsis), location)
            }
        }
        return DisplayWidth.fit(words(name, nil), to: max(0, room), ellipsis: symbols.ellipsis)
    }
}

extension Timeline {
    /// True for a post that no observer matched.
    func isUnobserved(_ item: Item) -> Bool {
        [.post, .capture, .enqueue, .append].contains(item.stage) && index.entry(item.entry).count == 0
    }

    func label(of item: Item) -> TimelineLabel {
        let entry = index.entry(item.entry)
        let count = Int(entry.count)
        var label = TimelineLabel(
            what: entry.stage == .append ? "perform" : entry.stage.rawValue, post: post(of: item.entry),
            name: recording.name(of: entry), location: recording.location(of: entry), line: Int(entry.line))
        label.outcome = isUnobserved(item) ? "unobserved" : item.waiting > 0 ? "\(item.waiting) still waiting" : nil
        if entry.name < 0 { label.name = entry.stage == .register ? "any name" : entry.post >= 0 ? "block" : nil }
        if entry.observer >= 0 { label.details.append("observer \(recording.observers[Int(entry.observer)].number)") }
        switch entry.stage {
        case .post, .capture, .enqueue, .append: if count > 1 { label.details.append("to \(count) observers") }
        case .remove: if count > 0 { label.details.append("\(counted(count, "handler")) of it run") }
        case .lost: label.details.append(counted(max(0, count), "record"))
        default: break
        }
        // The message of a wait names the thread.
        if entry.target >= 0, entry.target != entry.thread, !(entry.stage.isWait && entry.message >= 0) {
            label.details.append("for \(recording.describeThread(entry.target))")
        }
        if entry.relatedPost >= 0, entry.relatedPost != entry.post {
            let word = entry.stage == .capture ? "of" : "by"
            label.details.append("\(word) #\(recording.posts[Int(entry.relatedPost)].number)")
        }
        if let details = recording.words(of: entry) { label.details.append(details) }
        return label
    }

    /// How long a post to a Foundation center occupies its thread: `1.5 ms`, or `runs on`; nil if it is not recorded.
    func lengthOfPost(_ item: Item) -> String? {
        let entry = index.entry(item.entry)
        guard entry.stage == .post, entry.isFoundation, entry.post >= 0 else { return nil }
        let returned = index.posts[Int(entry.post)].returned
        return returned < 0 ? "runs on" : ElapsedTime.text(index.time(from: item.entry, to: returned))
    }

    /// The number of a record's post, such as `#3`.
    func post(of entry: Int32) -> String? {
        let post = index.entry(entry).post
        return post < 0 ? nil : "#\(recording.posts[Int(post)].number)"
    }

    /// `#3`, or `#3…#9` for several.
    func posts(of item: Item) -> String? {
        let (first, last) = (post(of: item.entry), post(of: item.lastEntry))
        return first.flatMap { first in last.map { first == $0 ? first : "\(first)…\($0)" } }
    }

    /// The texts of a row, and the thread, time and line.
    func tip(of item: Item) -> String {
        let label = label(of: item)
        let cells = TimelineText.cells(of: .whole, item, in: self, .unicode)
        return [
            cells.filter { !$0.isEmpty }.joined(separator: " ") + (item.runsOn ? " runs on" : ""),
            label.description(room: 300, .unicode),
            "on \(lanes[item.lane].title), at \(ElapsedTime.exact(item.begin, isTyped: false)), line \(label.line)",
        ].filter { !$0.isEmpty }.map { Excerpt.of($0, length: 300) }.joined(separator: "\n")
    }

    // MARK: Summary

    var summary: String {
        "\(counted(rows.count, "row")) of \(counted(recording.entries.count, "record")), "
            + "\(counted(recording.threads.count, "thread")), \(duration): \(recording.source)"
    }

    /// Why this part is drawn, and where most happens in a large recording.
    var overview: [String] {
        [busiest, window?.words].compactMap(\.self)
    }

    private static let largeRecording = 1000

    /// The second with the most records; a shorter time if the recording is short. Nil if it is not large.
    var busiest: String? {
        let units: [(name: String, nanoseconds: UInt64)] = [
            ("second", 1_000_000_000), ("100 ms", 100_000_000), ("10 ms", 10_000_000), ("ms", 1_000_000),
        ]
        guard let start = recording.entries.first?.time, recording.entries.count >= Self.largeRecording,
            let unit = units.first(where: { $0.nanoseconds * 2 <= UInt64(max(0, duration.nanoseconds)) })
        else { return nil }
        var counts: [UInt64: Int] = [:]
        // Times of a damaged file are limited so that sums do not overflow.
        for entry in recording.entries {
            counts[min(entry.time &- start, UInt64(Int64.max / 4)) / unit.nanoseconds, default: 0] += 1
        }
        guard let most = counts.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }) else { return nil }
        let (from, to) = (
            ElapsedTime.exact(Int64(clamping: most.key * unit.nanoseconds)),
            ElapsedTime.exact(Int64(clamping: (most.key + 1) * unit.nanoseconds))
        )
        return "Busiest \(unit.name): \(counted(most.value, "record")), --from \(from) --to \(to)."
    }

    /// Notes about everything that is not drawn, and how to show it, one per line.
    var notes: [String] {
        var notes: [String] = []
        func note(_ count: Int, _ words: String) {
            if count > 0 { notes.append("\(counted(count, "record")) \(words)") }
        }
        if !foldedLanes.isEmpty {
            let shown = foldedLanes.prefix(5).joined(separator: ", ")
            let more = foldedLanes.count > 5 ? " and \(foldedLanes.count - 5) more" : ""
            notes.append("One lane shows \(foldedLanes.count) threads that do not fit: \(shown)\(more).")
        }
        let from = ElapsedTime.exact(leftOut.limitReached)
        note(leftOut.beyondLimit, "left out: --from \(from) continues there, --limit 0 draws everything.")
        if leftOut.before + leftOut.after > 0 {
            let reason = window == nil ? ", by --from and --to" : ""
            notes.append(
                "\(counted(leftOut.before, "record")) before and \(leftOut.after) after the drawing left out\(reason).")
        }
        note(leftOut.filtered, "left out by --name, --thread or --post.")
        if !leftOut.undrawn.isEmpty {
            let counts = leftOut.undrawn.sorted { $0.key.rawValue < $1.key.rawValue }
            notes.append("Not drawn: " + counts.map { "\($0.value) \($0.key.rawValue)" }.joined(separator: ", ") + ".")
        }
        return notes
    }
}
