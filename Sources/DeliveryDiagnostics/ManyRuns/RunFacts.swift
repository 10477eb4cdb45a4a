internal import DeliveryRecording
internal import TerminalText

/// The facts of one run.
///
/// Threads are replaced by roles: a name, with all numbers at its end as one; `main`; the pools of Dispatch and of
/// `--pool`; and for a thread without a name, what it begins with.
/// Cost: one pass over the run.
struct RunFacts {
    struct Event {
        let text: RunEvent.Text
        let role: String
        let line: Int
        /// Nil for a notification that was never handled.
        let lane: Int?
        /// The event before it on its lane, and the number of all of these.
        let before: Int?
        let ordinal: Int
    }

    /// The first event for each fact; the second for `repeats`.
    private(set) var evidence: [RunFact: Int] = [:]
    private(set) var events: [Event] = []
    /// For each text: its first event, and how often it occurs.
    private(set) var occurrences: [RunEvent.Text: (first: Int, count: Int)] = [:]
    /// For each thread: its role.
    private(set) var roles: [Int: String] = [:]
    /// The roles of threads without names.
    private(set) var unnamed: Set<String> = []
    let source: any ComparedSource
    private var last: [Int: Int] = [:]

    init(_ source: any ComparedSource) {
        self.source = source
        // The last message of a log that ends within a line may be longer.
        for line in source.run.lines.indices.dropLast(source.run.isText && !source.isComplete ? 1 : 0) {
            guard let event = source.event(line), !event.isHandOver else { continue }
            add(event.text, event.thread, line, event.lane)
        }
        if source.isComplete, let recording = source as? ComparedRecording { add(recording) }
    }

    private mutating func add(_ text: RunEvent.Text, _ thread: Int, _ line: Int, _ lane: Int?) {
        let known = roles[thread] ?? source.role(thread)
        let role = known ?? "the thread that begins with \(text.words)"
        if known == nil { unnamed.insert(role) }
        if thread >= 0 { roles[thread] = role }
        let (event, before) = (events.count, lane.flatMap { last[$0] })
        let ordinal = before.map { events[$0].ordinal + 1 } ?? 0
        events.append(Event(text: text, role: role, line: line, lane: lane, before: before, ordinal: ordinal))
        occurrences[text, default: (event, 0)].count += 1
        for role in [role, nil] {
            let isFirst = evidence[.occurs(text, role: role)] == nil
            note(isFirst ? .occurs(text, role: role) : .repeats(text, role: role), event)
        }
        if let before { note(.follows(text, after: events[before].text), event) }
        if let lane { last[lane] = event }
    }

    private mutating func note(_ fact: RunFact, _ event: Int) {
        if evidence[fact] == nil, events.indices.contains(event) { evidence[fact] = event }
    }

    /// What only recordings say: what was never handled, the end, and the findings.
    private mutating func add(_ compared: ComparedRecording) {
        let (index, recording, lines) = (compared.index, compared.index.recording, events.map(\.line))
        for delivery in index.deliveries where delivery.isPending && index.record(of: delivery) >= 0 {
            let (line, name) = (Int(index.record(of: delivery)), index.name(of: delivery))
            let text = RunEvent.Text(
                subject: name < 0 ? "" : recording.strings[Int(name)], verb: "is never handled by", isOutcome: true)
            add(text, compared.threadName(index.target(of: delivery)), line, nil)
        }
        func event(at line: Int) -> Int { max(0, lines.prefix { $0 <= line }.count - 1) }
        if let end = recording.entries.lastIndex(where: { $0.stage == .end }),
            let words = recording.details(of: recording.entries[end])
        {
            note(.end(words), event(at: end))
        }
        // Its records in another run have other numbers. What a recording lacks is no fact about the program.
        for finding in Diagnosis(index).findings where finding.kind != "incomplete" {
            let subject = finding.name < 0 ? "" : " of \(ShownText.name(recording.strings[Int(finding.name)]))"
            let thread = finding.thread < 0 ? nil : compared.role(Int(finding.thread)).map { ", \($0)" }
            let words = "\(finding.title)\(subject)\(thread ?? "")"
            note(.finding(words), event(at: Int(finding.evidence.prefix(Finding.maximumEvidence).max() ?? 0)))
        }
    }
}
