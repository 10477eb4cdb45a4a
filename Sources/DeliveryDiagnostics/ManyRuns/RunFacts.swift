internal import DeliveryRecording
internal import TerminalText
internal import ThreadedNotifications

/// The facts of one run.
///
/// Threads are replaced by roles: a name, with all numbers at its end as one; `main`; the pools of Dispatch and of
/// `--pool`; and for a thread without a name, what it begins with.
/// Cost: one pass over the run.
struct RunFacts {
    /// A message of a log, or a post, handler, outcome or message of a recording.
    struct Line {
        var text: FactTexts.Text
        /// The thread or request, which does everything in order; nil for a notification that was never handled.
        var lane: Int?
        /// The thread that it belongs to, if that is another one.
        var owner: Int?
        /// The role of its thread; nil if the thread has no name.
        var role: String?
        /// Lines of one chain do not change their order.
        var chain = -1
        var time = ""
        /// The index of the record or message.
        var number: Int
    }

    struct Event {
        let text: Int
        let role: Int
        let line: Line
        /// The event before it on its lane, and the number of all of these.
        let before: Int?
        let ordinal: Int
    }

    /// The first event for each fact; the second for `repeats`, and the last for `ends`.
    private(set) var evidence: [RunFact: Int] = [:]
    private(set) var events: [Event] = []
    /// For each text: its first event, and how often it occurs.
    private(set) var occurrences: [Int: (first: Int, count: Int)] = [:]
    private(set) var roles: [Int: Int] = [:]
    /// False if a fact that the run does not show may be true.
    let isComplete: Bool
    /// The record or message of a number for reports; the file if there is none.
    let side: (Int32?) -> RunDifference.Side

    private init(
        _ lines: [Line], isComplete: Bool, _ texts: FactTexts, side: @escaping (Int32?) -> RunDifference.Side
    ) {
        (self.isComplete, self.side) = (isComplete, side)
        var last: [Int: Int] = [:]
        for line in lines {
            let (text, owner, event) = (texts.number(line.text), line.owner ?? line.lane ?? -1, events.count)
            let role =
                roles[owner] ?? line.role.map { texts.number(.init(subject: $0)) } ?? texts.role(beginningWith: text)
            if owner >= 0 { roles[owner] = role }
            let before = line.lane.flatMap { last[$0] }
            let ordinal = before.map { events[$0].ordinal + 1 } ?? 0
            events.append(Event(text: text, role: role, line: line, before: before, ordinal: ordinal))
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
        if evidence[fact] == nil, events.indices.contains(event) { evidence[fact] = event }
    }

    // MARK: Text logs

    init(_ log: TextLog, _ threads: LogThreads, _ texts: FactTexts) {
        let run = ComparedLog(log, threads).run
        // The last message of a log that ends within a line may be longer.
        let lines = log.messages.dropLast(log.isComplete ? 0 : 1).enumerated().map { number, message in
            let (writer, lane) = (log.writers[message.writer], Int(run.lane(ofLine: Int32(number))))
            let (group, isMain) = (threads.groups[writer] ?? "", writer.id != nil && writer.id == writer.process)
            let text = LogText(message.text, ids: threads.ids, process: writer.process).shown
            return Line(
                text: .init(subject: text, verb: "is written by", isMessage: true), lane: lane,
                role: group.isEmpty ? isMain ? "main" : nil : ShownText.name(Excerpt.of(group)), chain: lane,
                time: message.time ?? "\(number)", number: number)
        }
        self.init(lines, isComplete: log.isComplete, texts) { line in
            line.map { log.side(Int($0)) } ?? .init(source: log.name)
        }
    }

    // MARK: Recordings

    private static let verbs: [DeliveryStage: String] = [
        .log: "is logged by", .post: "is posted by", .enqueue: "is enqueued by", .deliver: "is handled on",
        .register: "gets an observer from", .remove: "loses an observer by",
    ]
    private static let outcomes: [DeliveryStage: String] = [
        .coalesce: "is coalesced for", .drop: "is dropped for", .cancel: "is cancelled for",
        .targetGone: "is lost with its target thread", .skip: "is skipped for",
    ]

    init(_ recording: Recording, _ texts: FactTexts) {
        let compared = ComparedRecording(RecordingIndex(recording))
        let (index, isComplete) = (compared.index, recording.incompleteness == nil)
        func role(_ thread: Int32) -> String? {
            guard thread >= 0 else { return "its thread" }
            let thread = recording.threads[Int(thread)]
            let name = thread.identity.name.map { ShownText.name(Excerpt.of(LogThreads.stem($0) ?? $0)) }
            guard let role = thread.isInPool ? "a pool of Dispatch" : thread.identity.number == 1 ? "main" : name
            else { return nil }
            let process = recording.processes[Int(thread.process)].name
            return recording.processes.count > 1 ? "\(role) of \(ShownText.name(process))" : role
        }
        func text(_ entry: Recording.Entry, _ verb: String, isOutcome: Bool) -> FactTexts.Text {
            if let message = recording.message(of: entry), entry.stage == .log {
                return .init(subject: LogText(message).shown, verb: verb, isMessage: true)
            }
            let name = compared.name(of: entry)
            return .init(
                subject: name < 0 ? "" : recording.strings[Int(name)], verb: verb, isOutcome: isOutcome)
        }
        var lines = recording.entries.enumerated().compactMap { number, entry -> Line? in
            let returned = entry.stage != .post || entry.post < 0 ? -1 : index.posts[Int(entry.post)].returned
            let count = returned < 0 ? entry.count : index.entry(returned).count
            let unobserved = entry.stage == .post && count == 0 ? "is posted without an observer by" : nil
            let outcome = unobserved ?? Self.outcomes[entry.stage]
            // Others are no events of their own, such as a `return`.
            guard let verb = outcome ?? Self.verbs[entry.stage] else { return nil }
            let delivery = index.deliveryOfEntry[number]
            let target = outcome != nil && delivery >= 0 ? index.target(of: index.deliveries[Int(delivery)]) : -1
            return Line(
                text: text(entry, verb, isOutcome: outcome != nil), lane: Int(entry.thread),
                owner: target < 0 ? nil : Int(target), role: role(target < 0 ? entry.thread : target),
                chain: Int(compared.run.lane(ofLine: Int32(number))), time: "\(entry.time)", number: number)
        }
        for delivery in index.deliveries where isComplete && delivery.isPending && index.record(of: delivery) >= 0 {
            let (number, target) = (index.record(of: delivery), index.target(of: delivery))
            let text = text(index.entry(number), "is never handled by", isOutcome: true)
            lines.append(
                Line(text: text, owner: target < 0 ? nil : Int(target), role: role(target), number: Int(number)))
        }
        self.init(lines, isComplete: isComplete, texts, side: compared.side)
        guard isComplete else { return }
        let ordered = events.prefix { $0.line.lane != nil }
        func event(at number: Int) -> Int { max(0, ordered.prefix { $0.line.number <= number }.count - 1) }
        let entries = recording.entries
        if let end = entries.lastIndex(where: { $0.stage == .end }), let words = recording.details(of: entries[end]) {
            note(.end(texts.number(.init(subject: words))), event(at: end))
        }
        // Its records in another run have other numbers. What a recording lacks is no fact about the program.
        for finding in Diagnosis(index).findings where finding.kind != "incomplete" {
            let subject = finding.name < 0 ? "" : " of \(ShownText.name(recording.strings[Int(finding.name)]))"
            let thread = finding.thread < 0 ? nil : role(finding.thread).map { ", \($0)" }
            let text = texts.number(.init(subject: "\(finding.title)\(subject)\(thread ?? "")"))
            note(.finding(text), event(at: Int(finding.evidence.prefix(Finding.maximumEvidence).max() ?? 0)))
        }
    }
}
