internal import DeliveryRecording
internal import ThreadedNotifications

/// The texts of the rows of a timeline.
extension Timeline {
    /// True for a post that no observer matched.
    func isUnobserved(_ item: Item) -> Bool { isPost(item.stage) && index.entry(item.entry).count == 0 }

    private func isPost(_ stage: DeliveryStage) -> Bool { [.post, .capture, .enqueue, .append].contains(stage) }

    /// The texts of a row: what happens, such as `deliver`; the post, `#3`, or `#3…#9` for several; the time since the
    /// post; how long it takes; and the outcome of a post, if nothing else in the drawing shows it, the name, and what
    /// is not visible elsewhere.
    func texts(of row: Row) -> [String] {
        let item = items[row.item]
        let entry = index.entry(item.entry)
        let duration = ElapsedTime(nanoseconds: item.end - item.begin).description
        var (what, post) = (entry.stage == .append ? "perform" : entry.stage.rawValue, post(of: item.entry))
        let name =
            recording.name(of: entry) ?? (entry.stage == .register ? "any name" : entry.post >= 0 ? "block" : nil)
        if row.part == .end {
            what = item.stage == .wait ? "waitEnd" : "return"
            return [what, post, "", item.ending == .returned ? duration : "", name ?? ""]
        }
        if item.isRun {
            what += " ×\(item.count)"
            if !post.isEmpty { post += "…\(self.post(of: item.lastEntry))" }
        }
        let latency = item.arrow.map { arrow in
            arrow.kind == .atOnce
                ? "at once" : (item.isRun ? "≤" : "") + ElapsedTime(nanoseconds: arrow.latency).description
        }
        let isWhole = item.isRun ? item.end > item.begin : row.part == .whole && item.ending == .returned
        let outcome = isUnobserved(item) ? "unobserved" : item.waiting > 0 ? "\(item.waiting) still waiting" : nil
        let description = [outcome, name].compactMap(\.self) + (item.isRun ? [] : details(of: entry))
        return [
            what, post, latency ?? "", isWhole ? duration : item.runsOn ? "runs on" : "",
            description.joined(separator: ", "),
        ]
    }

    private func details(of entry: Recording.Entry) -> [String] {
        var details: [String] = []
        if entry.observer >= 0 { details.append("observer \(recording.observers[Int(entry.observer)].number)") }
        if isPost(entry.stage), entry.count > 1 { details.append("to \(entry.count) observers") }
        if entry.stage == .lost { details.append(counted(max(0, Int(entry.count)), "record")) }
        if entry.relatedPost >= 0, entry.relatedPost != entry.post {
            let number = recording.posts[Int(entry.relatedPost)].number
            details.append("\(entry.stage == .capture ? "of" : "by") #\(number)")
        }
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
