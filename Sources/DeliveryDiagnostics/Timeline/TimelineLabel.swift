internal import DeliveryRecording
internal import TerminalText
internal import ThreadedNotifications

/// The texts of a row of a timeline.
struct TimelineLabel {
    /// For example `deliver`.
    var what: String
    /// For example `#3`, or `#3…#9` for several.
    var post = ""
    /// The time since the post.
    var latency = ""
    /// How long it takes.
    var lasts = ""
    /// The outcome of a post, if nothing else in the drawing shows it, the name, and what is not visible elsewhere.
    var description: String

    var columns: [String] { [what, post, latency, lasts] }
}

extension Timeline {
    /// True for a post that no observer matched.
    func isUnobserved(_ item: Item) -> Bool {
        isPost(item.stage) && index.entry(item.entry).count == 0
    }

    private func isPost(_ stage: DeliveryStage) -> Bool { [.post, .capture, .enqueue, .append].contains(stage) }

    func label(of row: Row) -> TimelineLabel {
        let item = items[row.item]
        let entry = index.entry(item.entry)
        let (isOf, duration) = (post(of: item.entry), ElapsedTime(nanoseconds: item.end - item.begin).description)
        let name =
            recording.name(of: entry) ?? (entry.stage == .register ? "any name" : entry.post >= 0 ? "block" : nil)
        if row.part == .end {
            return TimelineLabel(
                what: item.stage == .wait ? "waitEnd" : "return", post: isOf,
                lasts: item.ending == .returned ? duration : "", description: name ?? "")
        }
        let outcome = isUnobserved(item) ? "unobserved" : item.waiting > 0 ? "\(item.waiting) still waiting" : nil
        let latency = item.arrow.map { arrow in
            arrow.kind == .atOnce
                ? "at once" : (item.isRun ? "≤" : "") + ElapsedTime(nanoseconds: arrow.latency).description
        }
        var label = TimelineLabel(
            what: entry.stage == .append ? "perform" : entry.stage.rawValue, post: isOf, latency: latency ?? "",
            description: ([outcome, name].compactMap(\.self) + (item.isRun ? [] : details(of: entry)))
                .joined(separator: ", "))
        if item.isRun {
            label.what += " ×\(item.count)"
            if !isOf.isEmpty { label.post += "…\(post(of: item.lastEntry))" }
            label.lasts = item.end > item.begin ? duration : ""
        } else if row.part == .whole, item.ending == .returned {
            label.lasts = duration
        } else if item.runsOn {
            label.lasts = "runs on"
        }
        return label
    }

    private func details(of entry: Recording.Entry) -> [String] {
        var details: [String] = []
        if entry.observer >= 0 { details.append("observer \(recording.observers[Int(entry.observer)].number)") }
        if isPost(entry.stage), entry.count > 1 { details.append("to \(entry.count) observers") }
        // The message of a wait names the thread.
        if entry.target >= 0, entry.target != entry.thread, !(entry.stage.isWait && entry.message >= 0) {
            details.append("for \(recording.describeThread(entry.target))")
        }
        return details
            + [recording.words(of: entry), recording.location(of: entry).map { "at \($0)" }].compactMap(\.self)
    }

    private func post(of entry: Int32) -> String {
        let post = index.entry(entry).post
        return post < 0 ? "" : "#\(recording.posts[Int(post)].number)"
    }
}
