internal import DeliveryRecording
internal import TerminalText
internal import ThreadedNotifications

/// Describes the threads, observers, posts and records of a recording in sentences.
struct RecordWords: Sendable {
    let index: RecordingIndex

    var recording: Recording { index.recording }

    func thread(_ thread: Int32) -> String { Excerpt.of(recording.describeThread(thread)) }

    /// For example `worker (thread 2)`, so that it is found in the program.
    func numberedThread(_ thread: Int32) -> String {
        guard thread >= 0 else { return "its thread" }
        let identity = recording.threads[Int(thread)].identity
        return identity.name == nil || identity.number == 1
            ? self.thread(thread) : "\(self.thread(thread)) (thread \(identity.number))"
    }

    func name(_ name: Int32) -> String { name < 0 ? "any name" : Excerpt.of(recording.strings[Int(name)]) }

    func times(_ count: Int) -> String { count == 1 ? "once" : "\(count) times" }

    /// For example `main, worker and 3 others`.
    func list(_ names: [String]) -> String {
        let shown = names.prefix(names.count > 4 ? 3 : 4)
        let all = shown + (names.count > shown.count ? ["\(names.count - shown.count) others"] : [])
        return all.count < 2 ? all.joined() : all.dropLast().joined(separator: ", ") + " and " + all[all.count - 1]
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

    /// For example `3 notifications for observer 1 of Saved`, or `1 block`.
    func deliveries(_ count: Int, _ observer: Int32, name: Int32) -> String {
        observer < 0 && name < 0
            ? counted(count, "block") : "\(counted(count, "notification")) for \(self.observer(observer, name: name))"
    }

    /// The name that a record's observer was added for, -1 for any name; the record's name if that is unknown.
    func observedName(_ entry: Recording.Entry) -> Int32 {
        index.registration(of: entry.observer)?.name ?? entry.name
    }

    func registered(_ observer: Int32) -> Int32 { observer < 0 ? -1 : index.observers[Int(observer)].registered }

    /// True if an observer was removed in less than 10 ms by the thread that added it, as when its token is released
    /// because nothing keeps it.
    func wasRemovedAtOnce(_ observer: Int32) -> Bool {
        let (added, removed) = (registered(observer), removed(observer))
        return added >= 0 && removed > added && index.entry(added).thread == index.entry(removed).thread
            && index.time(from: added, to: removed) < 10_000_000
    }

    /// True if the recording has the process's exit.
    func hasExited(_ process: Int) -> Bool {
        let end = index.processes[process].end
        return end >= 0 && index.entry(end).reason == .exit
    }

    /// The `post` or `capture` of a record's post, or -1.
    func posted(_ entry: Recording.Entry) -> Int32 { entry.post < 0 ? -1 : index.posts[Int(entry.post)].posted }

    func removed(_ observer: Int32) -> Int32 { observer < 0 ? -1 : index.observers[Int(observer)].removed }

    /// The observer of the handler, or the block.
    func observer(of handler: RecordingIndex.Span) -> String {
        observer(index.entry(handler.begin).observer, name: index.entry(handler.begin).name)
    }

    /// For example `the handler of observer 3 of WindowWillClose`, or `a performed block`.
    func handler(_ handler: RecordingIndex.Span) -> String {
        let entry = index.entry(handler.begin)
        return (entry.observer < 0 && entry.name < 0 ? "" : "the handler of ") + observer(of: handler)
    }

    /// True if a process ended on a thread, other than by a signal; nil if it may have.
    func hasEndedProcess(_ thread: Int32) -> Bool? {
        let end = index.processes[Int(recording.threads[Int(thread)].process)].end
        guard end >= 0, case let entry = index.entry(end), entry.reason?.isSignal != true else { return false }
        return entry.isThreadKnown ? entry.thread == thread : nil
    }

    /// True for the record of a call that Foundation itself made.
    func isCalledByFoundation(_ number: Int32) -> Bool { recording.isCalledByFoundation(index.entry(number)) }

    /// The record with the source location of a post or block: its `enqueue`, `post`, `capture` or `append`; -1 if
    /// there is none. The location of a posting queue's `post` is the queue's.
    private func source(ofPost post: Int32) -> Int32 {
        guard post >= 0 else { return -1 }
        let enqueued = index.posts[Int(post)].enqueued
        return enqueued >= 0 ? enqueued : index.origin(ofPost: post)
    }

    /// The source location that a record is about: its own, the one where its observer was added, or the one of its
    /// post.
    func sourceLocation(_ number: Int32) -> SourceLocation? {
        let entry = index.entry(number)
        let source = source(ofPost: entry.post)
        let own = entry.stage == .post || entry.stage == .capture ? source : number
        return [own, registered(entry.observer), source].lazy.filter { $0 >= 0 }
            .compactMap { recording.location(of: index.entry($0)) }.first
    }

    /// The source location of a record after some words; empty if it has none.
    func location(of number: Int32, _ words: String) -> String {
        guard number >= 0, let location = recording.location(of: index.entry(number)) else { return "" }
        return words + Excerpt.of(location.description)
    }

    // MARK: Records

    /// Describes a record as evidence: `run.jsonl:12 3.2 ms worker deliver #7 observer 3; posted at …; observed at …`.
    func evidence(_ number: Int32) -> String {
        let entry = index.entry(number)
        let time = ElapsedTime(nanoseconds: max(0, recording.elapsed(entry)))
        return "\(ShownText.escaped(recording.source)):\(entry.line) \(time) \(threadAndWords(number))"
    }

    /// The same as the fields of a JSON object.
    func evidenceFields(_ number: Int32) -> [String: Any] {
        let entry = index.entry(number)
        let fields: [String: Any?] = [
            "line": Int(entry.line), "nanoseconds": Int(recording.elapsed(entry)), "stage": entry.stage.rawValue,
            "text": evidence(number), "thread": entry.isThreadKnown ? recording.describeThread(entry.thread) : nil,
            "post": entry.post < 0 ? nil : recording.posts[Int(entry.post)].number,
            "observer": entry.observer < 0 ? nil : recording.observers[Int(entry.observer)].number,
            "name": recording.name(of: entry),
        ]
        return fields.compactMapValues(\.self)
    }

    /// Describes a record: `worker deliver #7 observer 3; posted at …; observed at …`.
    func threadAndWords(_ number: Int32) -> String {
        let (entry, source) = (index.entry(number), source(ofPost: index.entry(number).post))
        let isSeveral = recording.processes.count > 1
        let words = [
            // Everything in a record belongs to one process, so the process is printed once.
            isSeveral ? "[\(recording.processes[recording.process(of: entry)].id)]" : nil,
            entry.isThreadKnown ? bareThread(entry.thread) : nil, entry.stage.rawValue,
            entry.post < 0 ? nil : "#\(recording.posts[Int(entry.post)].number)",
            entry.name < 0 ? nil : name(entry.name),
        ]
        let text = (words.compactMap(\.self) + details(of: entry)).joined(separator: " ")
        let own = location(of: number, "; at ")
        let verb = source >= 0 && [.post, .capture].contains(index.entry(source).stage) ? "posted" : "enqueued"
        return text + (recording.sender(of: entry).map { ", from \($0.words)" } ?? "") + own
            + (own.isEmpty ? location(of: source, "; \(verb) at ") : "")
            + (own.isEmpty ? location(of: registered(entry.observer), "; observed at ") : "")
    }

    /// What a record says beside its thread, stage, post, name, sender and source location.
    func details(of entry: Recording.Entry) -> [String] {
        let isFor = entry.target >= 0 && entry.target != entry.thread && !(entry.stage.isWait && entry.message >= 0)
        return [
            entry.observer < 0 ? nil : "observer \(recording.observers[Int(entry.observer)].number)",
            isFor ? "for \(bareThread(entry.target))" : nil, count(of: entry),
            recording.words(of: entry).map { "\"\(Excerpt.of($0, length: 80))\"" },
        ].compactMap(\.self)
    }

    private func count(of entry: Recording.Entry) -> String? {
        let nouns: [DeliveryStage: (String, String)] = [
            .post: ("to ", "observer"), .capture: ("to ", "observer"), .postEnd: ("after ", "handler"),
            .lost: ("", "record"),
        ]
        return entry.count < 0 ? nil : nouns[entry.stage].map { $0 + counted(Int(entry.count), $1) }
    }

    /// Without its process.
    func bareThread(_ thread: Int32) -> String {
        let identity = recording.threads[Int(thread)].identity
        return identity.name.map { Excerpt.of($0) } ?? "thread \(identity.number)"
    }

    /// The library's description of a wait, with `worker` for `{number = 2, name = worker}`.
    static func withThreadNames(_ message: String) -> String {
        ThreadDescription.split(message).map { text, thread in
            "\(text)\(thread.map { $0.name ?? "thread \($0.number)" } ?? "")"
        }.joined()
    }
}

extension Recording {
    /// The details of an entry, in which threads have their names as everywhere else.
    func words(of entry: Entry) -> String? {
        details(of: entry).map { entry.stage.isWait ? RecordWords.withThreadNames($0) : $0 }
    }
}

extension DeliveryStage {
    /// True if the message describes a wait, and so a thread.
    var isWait: Bool { self == .wait || self == .refuseWait }
}

extension Recording.Sender {
    /// For example `Window 0x7f00`.
    var words: String { "\(Excerpt.of(type)) 0x\(String(identifier, radix: 16))" }
}
