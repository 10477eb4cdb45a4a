internal import DeliveryRecording
internal import TerminalText
internal import ThreadedNotifications

/// Makes lanes of a recording by the happens-before order of event-driven programs.
///
///     root lane of a thread        what the thread does on its own, in program order
///     lane (l, thread) of a lane l what the thread does because l handed it over, in the order in which it does it
///
/// A lane hands over the notifications and blocks of its `append` and `enqueue` records, and its posts that another
/// thread delivers. The thread handles those of one lane in order. Those of two lanes interleave by chance.
///
/// A Foundation center calls its observers in random order, so the handlers of each of its observers are a lane. The
/// threads of a pool of Dispatch stand for one another, and handle at the same time, so a delivery to a pool is a lane.
struct ComparedRecording: ComparedSource {
    private(set) var run: ComparedRun
    let index: RecordingIndex
    private var recording: Recording { index.recording }
    /// For each thread: the thread that stands for it. One of a pool stands for all of its process.
    private var standIns: [Int] = []
    private let isInPool: [Bool]
    /// For each string: its number as a name, and as a message.
    private let texts: [(name: Int, message: Int)]

    /// - Parameter ignored: the names of notifications to leave out, with everything that they cause.
    init(_ index: RecordingIndex, ignored: Set<String> = []) {
        self.index = index
        let recording = index.recording
        run = ComparedRun(lineCount: recording.entries.count)
        let process = recording.processes.count == 1 ? "\(recording.processes[0].id)" : nil
        texts = recording.strings.map { text in
            let message = LogText(text, process: process)
            return (ComparedRun.hash(text), ComparedRun.hash(message.skeleton, message.ids))
        }
        isInPool = recording.threads.map(\.isInPool)
        var pools: [Int32: Int] = [:]
        for (number, thread) in recording.threads.enumerated() {
            if isInPool[number], pools[thread.process] == nil { pools[thread.process] = number }
            standIns.append(isInPool[number] ? pools[thread.process] ?? number : number)
        }
        addNames()
        let leftOut = Set(ignored.compactMap(recording.name(called:)))
        for (number, entry) in recording.entries.enumerated() where !leftOut.contains(entry.name) {
            place(number, entry)
        }
    }

    // MARK: Names: of threads, processes, posts and observers

    private var posts: Int { recording.threads.count + recording.processes.count }
    private var observers: Int { posts + recording.posts.count }

    func threadName(_ thread: Int32) -> Int { thread < 0 ? -1 : standIns[Int(thread)] }

    private func postName(_ post: Int32) -> Int { post < 0 ? -1 : posts + Int(post) }

    private func observerName(_ observer: Int32) -> Int { observer < 0 ? -1 : observers + Int(observer) }

    private mutating func addNames() {
        let isOne = recording.processes.count == 1
        run.names = recording.threads.enumerated().map { number, thread in
            let process = isOne ? "" : recording.processes[Int(thread.process)].name
            let name = thread.identity.number == 1 ? "main" : thread.identity.name.map { "name \($0)" } ?? ""
            return .init(
                label: ComparedRun.hash("thread", isInPool[number] ? "pool" : name, process),
                owner: recording.threads.count + Int(thread.process))
        }
        run.names += recording.processes.map { .init(label: ComparedRun.hash("process", isOne ? "" : $0.name)) }
        for (label, count) in [("post", recording.posts.count), ("observer", recording.observers.count)] {
            run.names += Array(repeating: .init(label: ComparedRun.hash(label)), count: count)
        }
    }

    /// The name of the notification that an entry is about, as a string of the recording; -1 for a block.
    private func name(of entry: Recording.Entry) -> Int {
        Int(entry.name >= 0 || entry.post < 0 ? entry.name : index.name(ofPost: entry.post))
    }

    // MARK: Lanes

    private mutating func place(_ number: Int, _ entry: Recording.Entry) {
        guard let cause = index.cause(of: number) else { return }
        let parent = cause.entry < 0 ? -1 : run.lines[Int(cause.entry)].lane
        if cause.entry >= 0, parent < 0 { return }
        // An `append` stands for its handler, and `enqueue` for a post.
        let stage = entry.stage == .append ? .deliver : entry.stage == .enqueue ? .post : entry.stage
        let (name, message) = (name(of: entry), message(of: entry))
        let shape = ComparedRun.hash(stage, name < 0 ? 0 : texts[name].name, message)
        let lane = cause.entry >= 0 && !cause.isHandedOver ? parent : lane(entry, cause, parent, shape)
        run.setLine(number, parts(number), shape: shape, lane: lane, cause: Int(cause.entry))
    }

    private mutating func lane(_ entry: Recording.Entry, _ cause: RecordCause, _ parent: Int, _ shape: Int) -> Int {
        let thread = threadName(entry.thread)
        var key = ComparedRun.LaneKey(label: run.names[thread].label, parent: parent, names: [thread])
        if !isInPool[thread] {
            key.names.append(observerName(cause.observer))
        } else if parent >= 0 {
            key.names += [observerName(entry.observer), postName(entry.post)]
        } else {
            // Others of the pool may do it at the same time.
            key = .init(label: ComparedRun.hash("pool", shape), names: [])
        }
        key.names.removeAll { $0 < 0 }
        return run.lane(key)
    }

    // MARK: Lines

    private func message(of entry: Recording.Entry) -> Int { entry.message < 0 ? 0 : texts[Int(entry.message)].message }

    /// Addresses are reused, so only the type of the sender is compared. The number of handlers that run during a
    /// removal is chance, and so is whether its token was cancelled or released. A post to a Foundation center has the
    /// number of its handlers when it ends.
    func parts(_ line: Int) -> [ComparedRun.Part] {
        let entry = recording.entries[line]
        let (name, target, message) = (name(of: entry), threadName(entry.target), message(of: entry))
        var parts: [ComparedRun.Part] = [
            (.stage, .value(ComparedRun.hash(entry.stage))), (.name, .value(name < 0 ? 0 : texts[name].name)),
        ]
        for (reason, name) in [
            (RunDifference.Reason.post, postName(entry.post)), (.observer, observerName(entry.observer)),
            (.target, target), (.relatedPost, postName(entry.relatedPost)),
        ] where name >= 0 {
            parts.append((reason, .name(name)))
        }
        let count = entry.stage == .remove || entry.stage == .post && entry.isFoundation ? -1 : entry.count
        let isChance = entry.reason == .cancelled || entry.reason == .released
        parts += [
            (entry.stage == .post || entry.stage == .capture ? .count : .details, .value(Int(count))),
            (.sender, .value(ComparedRun.hash(recording.sender(of: entry)?.type))),
            (
                .details,
                .value(ComparedRun.hash(entry.overtakes, entry.style, entry.policy, isChance ? nil : entry.reason))
            ),
            (.message, .value(message)),
        ]
        return parts
    }

    // MARK: Events

    private static let verbs: [DeliveryStage: String] = [
        .log: "is logged by", .post: "is posted by", .enqueue: "is enqueued by", .deliver: "is handled on",
        .append: "is handled on", .register: "gets an observer for", .remove: "loses an observer by",
    ]
    private static let outcomes: [DeliveryStage: String] = [
        .coalesce: "is coalesced for", .drop: "is dropped for", .cancel: "is cancelled for",
        .targetGone: "is lost with its target thread", .skip: "is skipped for",
    ]

    func event(_ line: Int) -> RunEvent? {
        let entry = recording.entries[line]
        let returned = entry.stage != .post || entry.post < 0 ? -1 : index.posts[Int(entry.post)].returned
        let isUnobserved = entry.stage == .post && (returned < 0 ? entry : index.entry(returned)).count == 0
        let outcome = isUnobserved ? "is posted without an observer by" : Self.outcomes[entry.stage]
        guard let verb = outcome ?? Self.verbs[entry.stage] else { return nil }
        let delivery = index.deliveryOfEntry[line]
        var thread = entry.thread
        if entry.stage == .register || entry.stage == .append {
            thread = entry.target
        } else if outcome != nil, delivery >= 0, case let target = index.target(of: index.deliveries[Int(delivery)]),
            target >= 0
        {
            thread = target
        }
        let name = name(of: entry)
        let isMessage = entry.stage == .log && entry.message >= 0
        let subject = isMessage ? LogText(recording.message(of: entry) ?? "").shown : nil
        return RunEvent(
            text: .init(
                subject: subject ?? (name < 0 ? "" : recording.strings[name]), verb: verb, isMessage: isMessage,
                isOutcome: outcome != nil),
            thread: threadName(thread), lane: Int(entry.thread), isHandOver: entry.stage == .append)
    }

    func time(_ line: Int) -> String { "\(recording.entries[line].time)" }

    // MARK: Reports

    var path: String { recording.source }

    var isComplete: Bool { recording.incompleteness == nil }

    /// Of those with compared records.
    var threadCount: Int {
        Set(zip(run.lines, recording.entries).lazy.filter { $0.0.skeleton != 0 }.map { threadName($1.thread) }).count
    }

    func place(_ thread: Int) -> String {
        thread < 0 ? "the posting thread" : RecordWords(index: index).thread(Int32(thread))
    }

    func role(_ thread: Int) -> String? {
        guard thread >= 0 else { return "its thread" }
        let thread = recording.threads[thread]
        let name = thread.identity.name.map { ShownText.name(Excerpt.of(LogThreads.stem($0) ?? $0)) }
        guard let role = thread.isInPool ? "a pool of Dispatch" : thread.identity.number == 1 ? "main" : name
        else { return nil }
        let process = recording.processes[Int(thread.process)].name
        return recording.processes.count > 1 ? "\(role) of \(ShownText.name(process))" : role
    }

    func side(_ line: Int?) -> RunDifference.Side {
        guard let line else { return .init(source: path) }
        let entry = recording.entries[line]
        return .init(
            source: path, line: Int(entry.line), thread: recording.describeThread(entry.thread), stage: entry.stage,
            text: RecordWords(index: index).threadAndWords(Int32(line)))
    }
}
