internal import DeliveryRecording
internal import TerminalText
internal import ThreadedNotifications

/// The facts of one run: of the lines of a text log, or of the posts, handlers, outcomes, messages and findings of a
/// recording.
///
/// Threads are replaced by roles: a name, with all numbers at its end as one; `main`; the pools of Dispatch and of
/// `--pool`; and for a thread without a name, what it begins with.
/// Cost: one pass over the run.
struct RunFacts {
    struct Event {
        let text: Int
        let role: Int
        /// A thread, or a request: its events are in order. Nil for a notification that was never handled.
        let lane: String?
        /// The event before it on its lane, if its order is known.
        let before: Int?
        /// Events of different chains may change their order.
        let chain: Int
        /// The time, or its place among the times of a log.
        let time: Int
        /// The index of the record or message.
        let number: Int
    }

    /// The first event for each fact; the second for `repeats`, and the last for `ends`.
    private(set) var evidence: [RunFact: Int] = [:]
    private(set) var events: [Event] = []
    /// For each text: its first event, and how often it occurs.
    private(set) var occurrences: [Int: (first: Int, count: Int)] = [:]
    /// False if a fact that the run does not show may be true.
    let isComplete: Bool
    let source: String
    /// The record or line of an event, for reports.
    let side: @Sendable (Event) -> RunDifference.Side
    private(set) var roles: [String: Int] = [:]
    private var last: [String: Int] = [:]

    // MARK: Text logs

    /// - Parameter pool: finds the pool of a name or id.
    init(_ log: TextLog, _ texts: inout FactTexts, pool: (String) throws -> String?) throws {
        (isComplete, source) = (log.isComplete, log.name)
        side = { event in
            let message = log.messages[event.number]
            return RunDifference.Side(
                source: log.name, line: message.line, thread: log.writers[message.writer].name, text: message.shown)
        }
        var names: [String?] = []
        for writer in log.writers {
            var name = writer.name.map(Self.role)
            if name == nil, writer.id != nil, writer.id == writer.process { name = "main" }
            names.append(try (writer.name ?? writer.id).flatMap(pool) ?? name)
        }
        let ids = Set(log.writers.flatMap { [$0.id, $0.process.map(LogText.id)].compactMap(\.self) })
        let times = Dictionary(
            uniqueKeysWithValues: Set(log.messages.compactMap(\.time)).sorted().enumerated().map { ($1, $0) })
        // The last message of a log that ends within a line may be longer.
        for (number, message) in log.messages.dropLast(log.isComplete ? 0 : 1).enumerated() {
            let writer = log.writers[message.writer]
            let lane =
                writer.chain.map { "chain \($0)" } ?? "\(writer.process ?? "") \(writer.id ?? writer.name ?? "")"
            if message.beginsUnit { last[lane] = nil }
            let text = LogText(message.text, ids: ids, process: writer.process) { $0 }
            let subject = text.skeleton.replacing("\u{0}{}", with: "{…}").replacing("\u{0}", with: "…")
            add(
                texts.number(.init(subject: subject, deed: .written, isMessage: true)), name: names[message.writer],
                lane: lane, chain: lane.hashValue, time: message.time.flatMap { times[$0] } ?? number, number, &texts)
        }
        finish()
    }

    // MARK: Recordings

    init(_ recording: Recording, _ texts: inout FactTexts) {
        let index = RecordingIndex(recording)
        (isComplete, source) = (recording.incompleteness == nil, recording.source)
        side = { RunDifference.Side(index, $0.number) }
        let lines = ComparedRecording(index).run.lines
        func name(_ thread: Int32) -> String? {
            let thread = recording.threads[Int(thread)]
            let name = thread.identity.number == 1 ? "main" : thread.identity.name.map(Self.role)
            guard let role = thread.isInPool ? "a pool of Dispatch" : name else { return nil }
            let process = recording.processes[Int(thread.process)].name
            return recording.processes.count > 1 ? "\(role) of \(ShownText.name(process))" : role
        }
        func lane(_ thread: Int32) -> String { "\(thread)" }
        func subject(_ entry: Recording.Entry) -> String {
            if let message = recording.message(of: entry), entry.stage == .log {
                return MessagePart.withoutThreads(message).skeleton
            }
            let known = entry.name >= 0 || entry.post < 0 ? entry.name : index.name(ofPost: entry.post)
            return known < 0 ? "" : recording.strings[Int(known)]
        }
        for (number, entry) in recording.entries.enumerated() {
            guard let deed = Deed.of(entry, index) else { continue }
            let text = texts.number(.init(subject: subject(entry), deed: deed, isMessage: entry.stage == .log))
            let delivery = index.deliveryOfEntry[number]
            let target = deed.isOutcome && delivery >= 0 ? index.target(of: index.deliveries[Int(delivery)]) : -1
            add(
                text, name: name(target < 0 ? entry.thread : target), lane: lane(entry.thread),
                roleOf: target < 0 ? nil : lane(target), chain: Int(lines[number].lane),
                time: Int(truncatingIfNeeded: entry.time), number, &texts)
        }
        finish()
        guard isComplete else { return }
        let entries = recording.entries
        if let end = entries.lastIndex(where: { $0.stage == .end }), let words = recording.details(of: entries[end]) {
            note(.end(texts.number(.init(subject: words))), event(at: end, recording))
        }
        // Its records in another run have other numbers. What a recording lacks is no fact about the program.
        for finding in Diagnosis(index).findings where finding.kind != .incomplete {
            let subject = finding.name < 0 ? "" : " of \(ShownText.name(recording.strings[Int(finding.name)]))"
            let thread = finding.thread < 0 ? nil : name(finding.thread).map { ", \($0)" }
            note(
                .finding(texts.number(.init(subject: "\(finding.kind.name)\(subject)\(thread ?? "")"))),
                event(at: Int(finding.evidence.prefix(Finding.maximumEvidence).max() ?? 0), recording))
        }
        for delivery in index.deliveries where delivery.isPending && index.record(of: delivery) >= 0 {
            let (number, target) = (index.record(of: delivery), index.target(of: delivery))
            let text = texts.number(.init(subject: subject(index.entry(number)), deed: .pending))
            add(
                text, name: target < 0 ? "its thread" : name(target), roleOf: target < 0 ? nil : lane(target),
                Int(number), &texts)
        }
    }

    /// The last event of a record's thread up to the record; if there is none, of any thread.
    private func event(at number: Int, _ recording: Recording) -> Int {
        let lane = "\(recording.entries[number].thread)"
        return events.lastIndex { $0.number <= number && $0.lane == lane }
            ?? events.lastIndex { $0.number <= number } ?? 0
    }

    /// A name without the number at its end.
    private static func role(_ name: String) -> String { ShownText.name(Excerpt.of(ComparedLogs.stem(name) ?? name)) }

    // MARK: Facts

    private mutating func add(
        _ text: Int, name: String?, lane: String? = nil, roleOf other: String? = nil, chain: Int = -1, time: Int = 0,
        _ number: Int, _ texts: inout FactTexts
    ) {
        let owner = other ?? lane ?? ""
        let role =
            roles[owner] ?? name.map { texts.number(.init(subject: $0)) } ?? texts.role(beginningWith: text)
        if lane != nil || other != nil { roles[owner] = role }
        let (event, before) = (events.count, lane.flatMap { last[$0] })
        events.append(
            Event(text: text, role: role, lane: lane, before: before, chain: chain, time: time, number: number))
        let known = occurrences[text]
        occurrences[text] = (known?.first ?? event, (known?.count ?? 0) + 1)
        for role in [role, nil] {
            note(
                evidence[.occurs(text, role: role)] == nil ? .occurs(text, role: role) : .repeats(text, role: role),
                event)
        }
        guard let lane else { return }
        if let before { note(.follows(text, after: events[before].text), event) }
        last[lane] = event
    }

    private mutating func note(_ fact: RunFact, _ event: Int) {
        if evidence[fact] == nil, !events.isEmpty { evidence[fact] = event }
    }

    private mutating func finish() {
        guard isComplete else { return }
        for event in last.values.sorted() { note(.ends(events[event].text, role: events[event].role), event) }
    }
}
