package import DeliveryRecording
internal import ThreadedNotifications

/// Describes the threads, observers, posts and records of a recording in sentences.
package struct RecordWords: Sendable {
    let index: RecordingIndex

    package init(_ index: RecordingIndex) {
        self.index = index
    }

    var recording: Recording { index.recording }

    func thread(_ thread: Int32) -> String { Excerpt.of(recording.describeThread(thread)) }

    func name(_ name: Int32) -> String { name < 0 ? "any name" : Excerpt.of(recording.strings[Int(name)]) }

    func times(_ count: Int) -> String { count == 1 ? "once" : "\(count) times" }

    /// For example `main, worker and 3 others`.
    func threads(_ threads: [Int32]) -> String {
        let names = threads.prefix(threads.count > 4 ? 3 : 4).map(thread)
        let all = names + (threads.count > names.count ? ["\(threads.count - names.count) others"] : [])
        return all.count == 1 ? all[0] : all.dropLast().joined(separator: ", ") + " and " + (all.last ?? "")
    }

    /// For example `observer 3 of WindowWillClose`, or `a performed block`.
    func observer(_ observer: Int32, name: Int32) -> String {
        if observer < 0 { return name < 0 ? "a performed block" : "the observer of \(self.name(name))" }
        return "\(recording.describeObserver(observer)) of \(self.name(name))"
    }

    /// For example `observer 3 of WindowWillClose`, with the name that the observer was added for.
    func observer(_ observer: Int32) -> String {
        self.observer(observer, name: index.registration(of: observer)?.name ?? -1)
    }

    /// For example ` for observer 3`; empty if there is no observer.
    func forObserver(_ delivery: RecordingIndex.Delivery) -> String {
        delivery.observer >= 0 ? " for \(recording.describeObserver(delivery.observer))" : ""
    }

    /// The record of an observer's registration, or -1.
    func registered(_ observer: Int32) -> Int32 { observer < 0 ? -1 : index.observers[Int(observer)].registered }

    /// The record with the source location of a post: its `enqueue`, `post` or `capture`; -1 if there is none. The
    /// location of a posting queue's `post` is the queue's.
    func source(ofPost post: Int32) -> Int32 {
        guard post >= 0 else { return -1 }
        let post = index.posts[Int(post)]
        return post.enqueued >= 0 ? post.enqueued : post.posted
    }

    /// For example `#3 of Name, posted by main at Demo/main.swift:12 (line 7),`.
    func post(_ post: Int32) -> String {
        let source = source(ofPost: post)
        guard source >= 0 else { return recording.describePost(post) }
        let posted = index.posts[Int(post)].posted
        let entry = index.entry(posted >= 0 ? posted : source)
        let name = entry.name < 0 ? "" : " of \(self.name(entry.name))"
        let verb = entry.stage == .enqueue ? "enqueued" : "posted"
        return "\(recording.describePost(post))\(name), \(verb) by \(recording.describeThread(entry.thread))"
            + "\(location(of: source, " at ")) (line \(entry.line)),"
    }

    /// For example `deliver on worker, line 9`.
    func record(_ number: Int32) -> String {
        let entry = index.entry(number)
        return "\(entry.stage.rawValue) on \(recording.describeThread(entry.thread)), line \(entry.line)"
    }

    /// The source location of a record after some words; empty if it has none.
    func location(of number: Int32, _ words: String) -> String {
        guard number >= 0, let location = recording.place(of: index.entry(number)) else { return "" }
        return words + Excerpt.of(location.description)
    }

    /// Describes a record as evidence: `run.jsonl:12 3.2 ms worker deliver #7 observer 3; posted at …; observed at …`.
    func evidence(_ number: Int32) -> String {
        let entry = index.entry(number)
        let elapsed = ElapsedTime.text(UInt64(max(0, recording.elapsed(entry))))
        var text = "\(recording.source):\(entry.line) \(elapsed) "
        // Everything in a record belongs to one process, so the process is printed once.
        if recording.processes.count > 1 { text += "[\(recording.processes[recording.process(of: entry)].id)] " }
        text += "\(bareThread(entry.thread)) \(entry.stage.rawValue)"
        if entry.post >= 0 { text += " #\(recording.posts[Int(entry.post)].number)" }
        if entry.name >= 0 { text += " \(name(entry.name))" }
        if entry.observer >= 0 { text += " observer \(recording.observers[Int(entry.observer)].number)" }
        if entry.target >= 0, entry.target != entry.thread { text += " for \(bareThread(entry.target))" }
        if entry.count >= 0, entry.policy == nil { text += " \(count(of: entry))" }
        if let details = recording.details(of: entry) { text += " \"\(Excerpt.of(details, length: 80))\"" }
        if let sender = recording.sender(of: entry) { text += ", from \(sender.words)" }
        let own = location(of: number, "; at ")
        return text
            + (own.isEmpty
                ? location(of: source(ofPost: entry.post), "; posted at ")
                    + location(of: registered(entry.observer), "; observed at ") : own)
    }

    private func count(of entry: Recording.Entry) -> String {
        switch entry.stage {
        case .post, .capture: "to \(counted(Int(entry.count), "observer"))"
        case .remove: "while \(entry.count) of its handlers \(entry.count == 1 ? "runs" : "run")"
        default: "\(entry.count)"
        }
    }

    /// A thread without its process.
    private func bareThread(_ thread: Int32) -> String {
        let identity = recording.threads[Int(thread)].identity
        return identity.name.map { Excerpt.of($0) } ?? "thread \(identity.number)"
    }
}

extension DeliveryRecord.Sender {
    /// For example `Window 0x7f00`.
    var words: String { "\(Excerpt.of(type)) 0x\(String(identifier, radix: 16))" }
}
