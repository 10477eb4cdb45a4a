internal import DeliveryRecording
internal import ThreadedNotifications

/// Describes the threads, observers and records of a recording in findings.
struct DiagnosisWords {
    let index: DeliveryIndex

    init(_ index: DeliveryIndex) {
        self.index = index
    }

    private var recording: Recording { index.recording }

    func thread(_ thread: Int32) -> String { Excerpt.of(recording.describeThread(thread)) }

    func name(_ name: Int32) -> String { name < 0 ? "any name" : Excerpt.of(recording.strings[Int(name)]) }

    /// For example `observer 3 of WindowWillClose`, or `a performed block`.
    func observer(_ observer: Int32, name: Int32) -> String {
        if observer < 0 { return name < 0 ? "a performed block" : "the observer of \(self.name(name))" }
        return "\(recording.describeObserver(observer)) of \(self.name(name))"
    }

    /// For example `observer 3 of WindowWillClose`, with the name that the observer was added for.
    func observer(_ observer: Int32) -> String {
        let entryIndex = index.registered[Int(observer)]
        return self.observer(observer, name: entryIndex < 0 ? -1 : index.entry(entryIndex).name)
    }

    func times(_ count: Int) -> String { count == 1 ? "once" : "\(count) times" }

    func count(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    /// Describes a record as evidence: `run.jsonl:12 3.2 ms worker deliver #7 observer 3; posted at …; observed at …`.
    func evidence(_ entryIndex: Int32) -> String {
        let entry = index.entry(entryIndex)
        let elapsed = ElapsedTime.text(UInt64(max(0, recording.elapsed(entry))))
        var text = "\(recording.source):\(entry.line) \(elapsed) "
        // Everything in a record belongs to one process, so the process is printed once.
        if recording.processes.count > 1 { text += "[\(recording.processes[recording.process(of: entry)].id)] " }
        text += "\(bareThread(entry.thread)) \(entry.stage.rawValue)"
        if entry.post >= 0 { text += " #\(recording.posts[Int(entry.post)].number)" }
        if entry.name >= 0 { text += " \(name(entry.name))" }
        if entry.observer >= 0 { text += " observer \(recording.observers[Int(entry.observer)].number)" }
        if entry.target >= 0, entry.target != entry.thread { text += " for \(bareThread(entry.target))" }
        if entry.count >= 0, entry.policy == nil { text += " \(counted(entry))" }
        if let details = recording.details(of: entry) { text += " \"\(Excerpt.of(details, length: 80))\"" }
        if let sender = recording.sender(of: entry) { text += ", from \(sender.words)" }
        return text + sources(of: entry).map { "; \($0)" }.joined()
    }

    /// Describes the count of a record.
    private func counted(_ entry: Recording.Entry) -> String {
        switch entry.stage {
        case .post, .capture: "to \(count(Int(entry.count), "observer"))"
        case .remove: "while \(entry.count) of its handlers \(entry.count == 1 ? "runs" : "run")"
        default: "\(entry.count)"
        }
    }

    /// A thread without its process.
    private func bareThread(_ thread: Int32) -> String {
        let identity = recording.threads[Int(thread)].identity
        return identity.name.map { Excerpt.of($0) } ?? "thread \(identity.number)"
    }

    /// Where in the source a record's notification was posted, and its observer added.
    private func sources(of entry: Recording.Entry) -> [String] {
        if let location = recording.place(of: entry) {
            return ["at \(Excerpt.of(location.description))"]
        }
        var sources: [String] = []
        if entry.post >= 0 {
            let enqueued = index.enqueued[Int(entry.post)]
            let posted = enqueued >= 0 ? enqueued : index.posted[Int(entry.post)]
            if posted >= 0, let location = recording.place(of: index.entry(posted)) {
                sources.append("posted at \(Excerpt.of(location.description))")
            }
        }
        if entry.observer >= 0, index.registered[Int(entry.observer)] >= 0,
            let location = recording.place(of: index.entry(index.registered[Int(entry.observer)]))
        {
            sources.append("observed at \(Excerpt.of(location.description))")
        }
        return sources
    }
}

extension DeliveryRecord.Sender {
    /// For example `Window 0x7f00`.
    var words: String { "\(Excerpt.of(type)) 0x\(String(identifier, radix: 16))" }
}
