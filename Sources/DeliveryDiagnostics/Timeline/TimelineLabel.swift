internal import DeliveryRecording
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
        switch item.stage {
        case .post, .capture, .enqueue, .append: index.entry(item.entry).count == 0
        default: false
        }
    }

    func label(of item: Item) -> TimelineLabel {
        let entry = index.entry(item.entry)
        var label = TimelineLabel(
            what: entry.stage == .append ? "perform" : entry.stage.rawValue, post: post(of: item.entry),
            name: recording.name(of: entry), location: recording.location(of: entry), line: Int(entry.line))
        label.outcome = isUnobserved(item) ? "unobserved" : item.waiting > 0 ? "\(item.waiting) still waiting" : nil
        if entry.name < 0 { label.name = entry.stage == .register ? "any name" : entry.post >= 0 ? "block" : nil }
        if entry.observer >= 0 { label.details.append("observer \(recording.observers[Int(entry.observer)].number)") }
        let count = Int(entry.count)
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

    func tip(of item: Item) -> String {
        let label = label(of: item)
        let duration = ElapsedTime(nanoseconds: item.end - item.begin)
        var lines = [[label.what, label.post, label.name].compactMap(\.self).joined(separator: " ")]
        lines.append("on \(lanes[item.lane].title), at \(ElapsedTime.exact(item.begin))")
        if item.isRun {
            let range = item.latency.map { latency in
                let (least, most) = (latency.lowerBound, latency.upperBound)
                return "\(ElapsedTime(nanoseconds: least)) to \(ElapsedTime(nanoseconds: most)) after their posts"
            }
            let longest = item.isMark ? nil : "the longest \(ElapsedTime(nanoseconds: item.longest))"
            let parts = [
                "\(item.count) similar, up to \(post(of: item.lastEntry) ?? "the last")", range, "in \(duration)",
                longest,
            ]
            lines.append(parts.compactMap(\.self).joined(separator: ", "))
        } else if let arrow = item.arrow.map({ arrows[$0] }) {
            let from = arrow.fromLane == arrow.toLane ? "" : " on \(lanes[arrow.fromLane].title)"
            let what = arrow.kind == .queued ? "enqueue" : "post"
            lines.append("\(ElapsedTime(nanoseconds: arrow.latency)) after its \(what)\(from)")
        }
        if !item.isRun, let ending = item.ending {
            let isKnown = ending != .notRecorded
            lines.append(ending.runsOn ? "runs on" : isKnown ? "runs \(duration)" : "its return is not recorded")
        }
        if !item.isRun, let length = lengthOfPost(item) {
            lines.append(length == "runs on" ? length : "lasts \(length)")
        }
        lines += [label.outcome].compactMap(\.self) + label.details
        lines += [label.location.map { "at \($0)" }, "line \(label.line)"].compactMap(\.self)
        return lines.map { Excerpt.of($0, length: 300) }.joined(separator: "\n")
    }

    /// Notes about everything that is not drawn, and how to show it, one per line.
    var notes: [String] {
        var notes: [String] = []
        if !foldedLanes.isEmpty {
            let shown = foldedLanes.prefix(5).joined(separator: ", ")
            let more = foldedLanes.count > 5 ? " and \(foldedLanes.count - 5) more" : ""
            notes.append("One lane shows \(foldedLanes.count) threads that do not fit: \(shown)\(more).")
        }
        func note(_ count: Int, _ words: String) {
            if count > 0 { notes.append("\(counted(count, "record")) \(words)") }
        }
        let from = ElapsedTime.exact(leftOut.limitReached)
        note(leftOut.beyondLimit, "left out: --from \(from) continues there, --limit 0 draws everything.")
        if leftOut.before + leftOut.after > 0 {
            let before = counted(leftOut.before, "record")
            notes.append("\(before) before and \(leftOut.after) after the drawing left out, by --from and --to.")
        }
        note(leftOut.filtered, "left out by --name, --thread or --post.")
        if !leftOut.undrawn.isEmpty {
            let counts = leftOut.undrawn.sorted { $0.key.rawValue < $1.key.rawValue }
            notes.append("Not drawn: " + counts.map { "\($0.value) \($0.key.rawValue)" }.joined(separator: ", ") + ".")
        }
        return notes
    }
}
