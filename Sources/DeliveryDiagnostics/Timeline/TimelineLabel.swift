internal import DeliveryRecording
internal import TerminalText
internal import ThreadedNotifications

/// The texts of an item of a timeline.
struct TimelineLabel {
    /// For example `deliver`.
    var what: String
    /// For example `#3`, or `#3…#9` for several.
    var post: String?
    /// The time since the post.
    var latency: String?
    /// How long it takes.
    var lasts: String?
    var name: String?
    /// The outcome of a post, if nothing else in the drawing shows it.
    var outcome: String?
    /// Facts that are not visible elsewhere.
    var details: [String] = []

    var columns: [String] { [what, post ?? "", latency ?? "", lasts ?? ""] }
    var description: String { ([outcome, name].compactMap(\.self) + details).joined(separator: ", ") }
}

extension Timeline {
    /// True for a post that no observer matched.
    func isUnobserved(_ item: Item) -> Bool {
        [.post, .capture, .enqueue, .append].contains(item.stage) && index.entry(item.entry).count == 0
    }

    func label(of item: Item, _ part: Row.Part = .whole) -> TimelineLabel {
        let entry = index.entry(item.entry)
        var label = TimelineLabel(
            what: entry.stage == .append ? "perform" : entry.stage.rawValue, post: post(of: item.entry),
            latency: item.arrow?.kind == .atOnce ? "at once" : item.arrow?.words,
            name: recording.name(of: entry))
        label.outcome = isUnobserved(item) ? "unobserved" : item.waiting > 0 ? "\(item.waiting) still waiting" : nil
        if entry.name < 0 { label.name = entry.stage == .register ? "any name" : entry.post >= 0 ? "block" : nil }
        if item.isRun {
            label.what += " ×\(item.count)"
            label.post = label.post.flatMap { first in post(of: item.lastEntry).map { "\(first)…\($0)" } }
            label.latency = item.arrow.map { "≤\($0.words)" }
            label.lasts = item.end > item.begin ? item.duration.description : nil
            // Its members have different details.
            return label
        }
        label.lasts = item.ending == .returned ? item.duration.description : lengthOfPost(entry, item.entry)
        switch part {
        case .begin: label.lasts = item.runsOn ? "runs on" : nil
        case .end:
            (label.what, label.latency) = (item.stage == .wait ? "waitEnd" : "return", nil)
            return label
        case .whole: break
        }
        label.details = details(of: entry)
        return label
    }

    private func details(of entry: Recording.Entry) -> [String] {
        var details: [String] = []
        if entry.observer >= 0 { details.append("observer \(recording.observers[Int(entry.observer)].number)") }
        switch entry.stage {
        case .post, .capture, .enqueue, .append: if entry.count > 1 { details.append("to \(entry.count) observers") }
        case .remove: if entry.count > 0 { details.append("\(counted(Int(entry.count), "handler")) of it run") }
        case .lost: details.append(counted(max(0, Int(entry.count)), "record"))
        default: break
        }
        // The message of a wait names the thread.
        if entry.target >= 0, entry.target != entry.thread, !(entry.stage.isWait && entry.message >= 0) {
            details.append("for \(recording.describeThread(entry.target))")
        }
        if entry.relatedPost >= 0, entry.relatedPost != entry.post {
            let number = recording.posts[Int(entry.relatedPost)].number
            details.append("\(entry.stage == .capture ? "of" : "by") #\(number)")
        }
        return details
            + [recording.words(of: entry), recording.location(of: entry).map { "at \($0)" }].compactMap(\.self)
    }

    /// How long a post to a Foundation center occupies its thread: `1.5 ms`, or `runs on`; nil if it is not recorded.
    private func lengthOfPost(_ entry: Recording.Entry, _ number: Int32) -> String? {
        guard entry.stage == .post, entry.isFoundation, entry.post >= 0 else { return nil }
        let returned = index.posts[Int(entry.post)].returned
        return returned < 0 ? "runs on" : ElapsedTime.text(index.time(from: number, to: returned))
    }

    private func post(of entry: Int32) -> String? {
        let post = index.entry(entry).post
        return post < 0 ? nil : "#\(recording.posts[Int(post)].number)"
    }

    /// The texts of a row, and the thread, time and line.
    func tip(of item: Item) -> String {
        let (label, line) = (label(of: item), index.entry(item.entry).line)
        return [
            label.columns.filter { !$0.isEmpty }.joined(separator: " ") + (item.runsOn ? " runs on" : ""),
            label.description,
            "on \(lanes[item.lane].title), at \(ElapsedTime.exact(item.begin, isTyped: false)), line \(line)",
        ].filter { !$0.isEmpty }.map { Excerpt.of($0, length: 300) }.joined(separator: "\n")
    }
}
