internal import DeliveryRecording
internal import TerminalText
internal import ThreadedNotifications

/// A message of a log, or a post, handler, outcome or message of a recording, as facts are made of it.
struct FactLine {
    var text: FactTexts.Text
    /// A thread, or a request: its lines are in order. Nil for a notification that was never handled.
    var lane: String?
    /// The thread that it belongs to, if that is another one.
    var owner: String?
    /// The role of its thread; nil if the thread has no name.
    var name: String?
    /// True if the order to the line before is not known.
    var beginsUnit = false
    /// Lines of different chains may change their order.
    var chain = -1
    /// The time, or its place among the times of a log.
    var time = 0
    /// The index of the record or message.
    var number: Int
}

/// The facts of one run.
///
/// Threads are replaced by roles: a name, with all numbers at its end as one; `main`; the pools of Dispatch and of
/// `--pool`; and for a thread without a name, what it begins with.
/// Cost: one pass over the run.
struct RunFacts {
    struct Event {
        let text: Int
        let role: Int
        let line: FactLine
        /// The event before it on its lane, if its order is known.
        let before: Int?
        var lane: String? { line.lane }
    }

    /// The first event for each fact; the second for `repeats`, and the last for `ends`.
    private(set) var evidence: [RunFact: Int] = [:]
    private(set) var events: [Event] = []
    /// For each text: its first event, and how often it occurs.
    private(set) var occurrences: [Int: (first: Int, count: Int)] = [:]
    private(set) var roles: [String: Int] = [:]
    /// False if a fact that the run does not show may be true.
    let isComplete: Bool
    let source: String
    /// The record or message of a number, for reports.
    let side: (Int) -> RunDifference.Side

    private init(
        _ lines: [FactLine], isComplete: Bool, source: String, _ texts: FactTexts,
        side: @escaping (Int) -> RunDifference.Side
    ) {
        (self.isComplete, self.source, self.side) = (isComplete, source, side)
        var last: [String: Int] = [:]
        for line in lines {
            let text = texts.number(line.text)
            let owner = line.owner ?? line.lane ?? ""
            let role =
                roles[owner] ?? line.name.map { texts.number(.init(subject: $0)) } ?? texts.role(beginningWith: text)
            if !owner.isEmpty { roles[owner] = role }
            let event = events.count
            let before = line.beginsUnit ? nil : line.lane.flatMap { last[$0] }
            events.append(Event(text: text, role: role, line: line, before: before))
            occurrences[text, default: (event, 0)].count += 1
            for role in [role, nil] {
                let isFirst = evidence[.occurs(text, role: role)] == nil
                note(isFirst ? .occurs(text, role: role) : .repeats(text, role: role), event)
            }
            if let before { note(.follows(text, after: events[before].text), event) }
            if let lane = line.lane { last[lane] = event }
        }
        guard isComplete else { return }
        for event in last.values.sorted() { note(.ends(events[event].text, role: events[event].role), event) }
    }

    private mutating func note(_ fact: RunFact, _ event: Int) {
        if evidence[fact] == nil, !events.isEmpty { evidence[fact] = event }
    }

    /// A name without the number at its end.
    private static func role(_ name: String) -> String { ShownText.name(Excerpt.of(ComparedLogs.stem(name) ?? name)) }

    // MARK: Text logs

    /// - Parameter pool: finds the pool of a name or id.
    init(_ log: TextLog, _ texts: FactTexts, pool: (String) throws -> String?) throws {
        let names = try log.writers.map { writer in
            let isMain = writer.id != nil && writer.id == writer.process
            return try (writer.name ?? writer.id).flatMap(pool) ?? writer.name.map(Self.role) ?? (isMain ? "main" : nil)
        }
        let ids = Set(log.writers.flatMap { [$0.id, $0.process.map(LogText.id)].compactMap(\.self) })
        let times = Set(log.messages.compactMap(\.time)).sorted()
        let places = Dictionary(uniqueKeysWithValues: zip(times, 0...))
        // The last message of a log that ends within a line may be longer.
        let lines = log.messages.dropLast(log.isComplete ? 0 : 1).enumerated().map { number, message in
            let writer = log.writers[message.writer]
            let lane = writer.chain.map { "chain \($0)" } ?? "\(writer.process ?? "") \(writer.id ?? writer.name ?? "")"
            let text = LogText(message.text, ids: ids, process: writer.process).shown
            return FactLine(
                text: .init(subject: text, deed: .written, isMessage: true), lane: lane, name: names[message.writer],
                beginsUnit: message.beginsUnit, chain: lane.hashValue,
                time: message.time.flatMap { places[$0] } ?? number, number: number)
        }
        self.init(lines, isComplete: log.isComplete, source: log.name, texts) { log.side($0) }
    }

    // MARK: Recordings

    init(_ recording: Recording, _ texts: FactTexts) {
        let (index, isComplete) = (RecordingIndex(recording), recording.incompleteness == nil)
        let compared = ComparedRecording(index).run
        func name(_ thread: Int32) -> String? {
            let thread = recording.threads[Int(thread)]
            let name = thread.identity.number == 1 ? "main" : thread.identity.name.map(Self.role)
            guard let role = thread.isInPool ? "a pool of Dispatch" : name else { return nil }
            let process = recording.processes[Int(thread.process)].name
            return recording.processes.count > 1 ? "\(role) of \(ShownText.name(process))" : role
        }
        func text(_ entry: Recording.Entry, _ deed: Deed) -> FactTexts.Text {
            if let message = recording.message(of: entry), entry.stage == .log {
                return .init(subject: MessagePart.withoutThreads(message).skeleton, deed: deed, isMessage: true)
            }
            let name = entry.name >= 0 || entry.post < 0 ? entry.name : index.name(ofPost: entry.post)
            return .init(
                subject: name < 0 ? "" : recording.strings[Int(name)], deed: deed, isMessage: entry.stage == .log)
        }
        var lines = recording.entries.enumerated().compactMap { number, entry -> FactLine? in
            guard let deed = Deed.of(entry, index) else { return nil }
            let delivery = index.deliveryOfEntry[number]
            let target = deed.isOutcome && delivery >= 0 ? index.target(of: index.deliveries[Int(delivery)]) : -1
            return FactLine(
                text: text(entry, deed), lane: "\(entry.thread)", owner: target < 0 ? nil : "\(target)",
                name: name(target < 0 ? entry.thread : target), chain: Int(compared.lane(ofLine: Int32(number))),
                time: Int(truncatingIfNeeded: entry.time), number: number)
        }
        for delivery in index.deliveries where isComplete && delivery.isPending && index.record(of: delivery) >= 0 {
            let (number, target) = (index.record(of: delivery), index.target(of: delivery))
            lines.append(
                FactLine(
                    text: text(index.entry(number), .pending), owner: target < 0 ? nil : "\(target)",
                    name: target < 0 ? "its thread" : name(target), number: Int(number)))
        }
        self.init(lines, isComplete: isComplete, source: recording.source, texts) { .init(index, $0) }
        guard isComplete else { return }
        /// The last event of a record's thread up to the record; if there is none, of any thread.
        func event(at number: Int) -> Int {
            let (before, lane) = (
                events.prefix { $0.lane != nil && $0.line.number <= number }, "\(recording.entries[number].thread)"
            )
            return before.lastIndex { $0.lane == lane } ?? max(0, before.count - 1)
        }
        let entries = recording.entries
        if let end = entries.lastIndex(where: { $0.stage == .end }), let words = recording.details(of: entries[end]) {
            note(.end(texts.number(.init(subject: words))), event(at: end))
        }
        // Its records in another run have other numbers. What a recording lacks is no fact about the program.
        for finding in Diagnosis(index).findings where finding.kind != .incomplete {
            let subject = finding.name < 0 ? "" : " of \(ShownText.name(recording.strings[Int(finding.name)]))"
            let thread = finding.thread < 0 ? nil : name(finding.thread).map { ", \($0)" }
            note(
                .finding(texts.number(.init(subject: "\(finding.kind.name)\(subject)\(thread ?? "")"))),
                event(at: Int(finding.evidence.prefix(Finding.maximumEvidence).max() ?? 0)))
        }
    }
}
