internal import DeliveryRecording
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
struct ComparedRecording {
    private(set) var run = ComparedRun()
    let index: RecordingIndex
    var recording: Recording { index.recording }
    /// For each thread: the thread that stands for it. One of a pool stands for all of its process.
    private let standIns: [Int32]
    /// For each string: its number as a name, and as a message.
    private let texts: [(name: Int, message: Int, threads: [ThreadDescription])]
    private var threadOfNumber: [Recording.Numbered: Int32] = [:]
    private var threadOfKernelID: [Recording.Numbered: Int32] = [:]
    private var nameOfNumber: [Recording.Numbered: Int32] = [:]
    private var lanes: [ComparedRun.LaneKey: Int32] = [:]
    private var isActive: [Bool]

    static let unnamed = ComparedRun.hash("thread", "")

    /// - Parameters:
    ///   - ignored: the names of notifications to leave out, with everything that they cause.
    ///   - isSelected: whether to compare an entry.
    init(
        _ index: RecordingIndex, ignored: Set<String> = [], isSelected: (Recording.Entry) -> Bool = { _ in true }
    ) {
        self.index = index
        let recording = index.recording
        texts = recording.strings.map { text in
            let parts = MessagePart.withoutThreads(text)
            return (ComparedRun.hash(text), ComparedRun.hash(parts.skeleton), parts.threads)
        }
        standIns = recording.threads.enumerated().map { number, thread in
            guard thread.isInPool else { return Int32(number) }
            return Int32(recording.threads.firstIndex { $0.isInPool && $0.process == thread.process } ?? number)
        }
        isActive = Array(repeating: false, count: recording.threads.count)
        run.isTruncated = recording.incompleteness != nil
        run.lines = Array(repeating: ComparedRun.Line(), count: recording.entries.count)
        addNames()
        let leftOut = Set(ignored.compactMap(recording.name(called:)))
        for (number, entry) in recording.entries.enumerated() where !leftOut.contains(entry.name) {
            place(number, entry, isSelected(entry))
        }
        for (number, thread) in recording.threads.enumerated()
        where !isActive[number] && run.names[number].label == Self.unnamed
            && run.truncated.contains(processName(thread.process))
        {
            run.names[number].label = nil
        }
        for (number, entry) in recording.entries.enumerated() where run.lines[number].skeleton != 0 {
            addTokens(number, entry)
            addOutcome(Int32(number), entry)
        }
    }

    /// The number of threads with compared records.
    var comparedThreadCount: Int {
        let compared = recording.entries.indices.lazy.filter { run.isCompared(Int32($0)) }
        return Set(compared.map { threadName(recording.entries[$0].thread) }).count
    }

    /// The names of notifications with outcomes of these topics.
    func names(of topics: Set<Int>) -> [String] {
        run.outcomes.filter { topics.contains($0.value.topic) }.keys.compactMap { recording.name(of: index.entry($0)) }
    }

    // MARK: Names

    /// The name of a thread has its index; those of processes, posts and observers follow.
    func threadName(_ thread: Int32) -> Int32 { thread < 0 ? -1 : standIns[Int(thread)] }

    func processName(_ process: Int32) -> Int32 { Int32(recording.threads.count) + process }

    private var posts: Int32 { processName(Int32(recording.processes.count)) }
    private var observers: Int32 { posts + Int32(recording.posts.count) }

    func postName(_ post: Int32) -> Int32 { post < 0 ? -1 : posts + post }

    func observerName(_ observer: Int32) -> Int32 { observer < 0 ? -1 : observers + observer }

    /// The observer with a name.
    func observer(_ name: Int32) -> Int32 { name < observers ? -1 : name - observers }

    /// Describes a post or an observer.
    func words(_ name: Int32) -> String {
        name < observers
            ? recording.describePost(name - posts) : recording.describeObserver(observer(name))
    }

    /// The name in an entry that a reason is about.
    func name(_ reason: RunDifference.Reason, _ entry: Recording.Entry) -> Int32 {
        switch reason {
        case .post: postName(entry.post)
        case .observer: observerName(entry.observer)
        case .target: threadName(entry.target)
        case .relatedPost: postName(entry.relatedPost)
        default: -1
        }
    }

    /// Equal for threads that may correspond: those of one name, main, those without a name, or those of pools.
    func label(_ thread: Int32) -> Int { thread < 0 ? 0 : run.names[Int(thread)].label ?? Self.unnamed }

    private mutating func addNames() {
        run.names = recording.threads.map { thread in
            let name = thread.identity.number == 1 ? "main" : thread.identity.name.map { "name \($0)" } ?? ""
            return .init(
                label: ComparedRun.hash("thread", thread.isInPool ? "pool" : name), owner: processName(thread.process))
        }
        for (label, count) in [
            ("process", recording.processes.count), ("post", recording.posts.count),
            ("observer", recording.observers.count),
        ] {
            run.names += Array(repeating: .init(label: ComparedRun.hash(label)), count: count)
        }
        for (process, completeness) in recording.completeness.enumerated() {
            if case .truncated = completeness { run.truncated.insert(processName(Int32(process))) }
        }
        for (number, thread) in recording.threads.enumerated() {
            func key(_ number: Int) -> Recording.Numbered { .init(process: thread.process, number: number) }
            threadOfNumber[key(thread.identity.number)] = Int32(number)
            threadOfKernelID[key(Int(thread.identity.kernelID))] = Int32(number)
        }
    }

    /// The number of a string, or 0.
    private func text(_ string: Int32) -> Int { string < 0 ? 0 : texts[Int(string)].name }

    // MARK: Lanes

    private mutating func place(_ number: Int, _ entry: Recording.Entry, _ isSelected: Bool) {
        guard let cause = index.cause(of: number) else { return }
        let parent = cause.entry < 0 ? -1 : run.lane(ofLine: cause.entry)
        if cause.entry >= 0, parent < 0 { return }
        let lane = cause.isInSameLane ? parent : lane(entry, cause, parent)
        (run.lines[number].cause, run.lines[number].lane) = (cause.entry, lane)
        isActive[Int(threadName(entry.thread))] = true
        guard isSelected else { return }
        run.lines[number].skeleton = skeleton(entry)
        run.lines[number].shape = ComparedRun.hash(entry.stage, text(entry.name))
        run.lanes[Int(lane)].lines.append(Int32(number))
    }

    private mutating func lane(_ entry: Recording.Entry, _ cause: RecordCause, _ parent: Int32) -> Int32 {
        let thread = threadName(entry.thread)
        var key = ComparedRun.LaneKey(label: label(thread), parent: parent, names: [thread])
        if !recording.threads[Int(thread)].isInPool {
            key.names.append(observerName(cause.observer))
        } else if parent >= 0 {
            key.names += [observerName(entry.observer), postName(entry.post)]
        } else {
            // Others of the pool may do it at the same time.
            key = .init(label: ComparedRun.hash("pool", entry.stage, text(entry.name), message(of: entry)), names: [])
        }
        key.names.removeAll { $0 < 0 }
        if let known = lanes[key], !key.names.isEmpty { return known }
        lanes[key] = Int32(run.lanes.count)
        run.lanes.append(.init(key: key, process: processName(recording.threads[Int(thread)].process)))
        return Int32(run.lanes.count - 1)
    }

    // MARK: Lines

    private func message(of entry: Recording.Entry) -> Int { entry.message < 0 ? 0 : texts[Int(entry.message)].message }

    func mentions(of entry: Recording.Entry) -> [ThreadDescription] {
        entry.message < 0 ? [] : texts[Int(entry.message)].threads
    }

    private func skeleton(_ entry: Recording.Entry) -> Int {
        // The number of handlers that run during a removal is chance. Addresses are reused, so only the type of the
        // sender is compared.
        ComparedRun.hash(
            entry.stage, text(entry.name), message(of: entry),
            [entry.post, entry.observer, entry.target, entry.relatedPost].map { $0 < 0 },
            entry.stage == .remove ? -1 : entry.count, recording.sender(of: entry)?.type, entry.overtakes, entry.style,
            entry.policy, entry.reason)
    }

    private mutating func token(_ mention: ThreadDescription, _ entry: Recording.Entry) -> ComparedRun.Token {
        let process = recording.threads[Int(entry.thread)].process
        let isMain =
            mention.number == 1 || mention.isKernelID && mention.number == Int(recording.processes[Int(process)].id)
        let label = ComparedRun.hash(mention.name ?? (isMain ? "main" : ""), isMain)
        if isMain { return .thread(label, [], number: -1, isKernelID: mention.isKernelID) }
        let key = Recording.Numbered(process: process, number: mention.number)
        let thread = threadName((mention.isKernelID ? threadOfKernelID : threadOfNumber)[key] ?? -1)
        let isKnown = thread >= 0 && isActive[Int(thread)]
        if !isKnown, run.truncated.contains(processName(process)) { return .unknown }
        let name = nameOfNumber[key] ?? Int32(run.names.count)
        if name == run.names.count {
            run.names.append(.init(label: ComparedRun.hash("number")))
            nameOfNumber[key] = name
        }
        return .thread(label, isKnown ? [thread] : [], number: name, isKernelID: mention.isKernelID)
    }

    private mutating func addTokens(_ number: Int, _ entry: Recording.Entry) {
        let start = run.tokens.count
        let names = [
            postName(entry.post), observerName(entry.observer), threadName(entry.target), postName(entry.relatedPost),
        ]
        run.tokens += names.lazy.filter { $0 >= 0 }.map { .name($0) }
        for mention in mentions(of: entry) { run.tokens.append(token(mention, entry)) }
        run.lines[number].tokens = start..<run.tokens.count
    }

    private mutating func addOutcome(_ number: Int32, _ entry: Recording.Entry) {
        guard entry.post >= 0 else { return }
        let delivery = ComparedRun.Delivery(post: postName(entry.post), observer: observerName(entry.observer))
        if entry.stage == .append {
            run.ends[delivery.observer] = (run.ends[delivery.observer]?.first ?? delivery, delivery)
        }
        let isOfQueue = entry.observer < 0 && index.posts[Int(entry.post)].queueOutcome == number
        guard entry.stage.isOutcome || isOfQueue else { return }
        // Without an observer and a queue, it is one of the document's technique, or a block.
        let kind = entry.observer >= 0 ? "observer" : isOfQueue ? "queue" : ""
        let isByPolicy = (entry.stage == .coalesce || entry.stage == .drop) && entry.name >= 0 && !kind.isEmpty
        run.outcomes[number] = .init(
            delivery: delivery, topic: ComparedRun.hash(text(entry.name), kind),
            isDelivered: entry.stage == .deliver, isByPolicy: isByPolicy,
            keepsLast: isByPolicy && (entry.stage == .coalesce || entry.policy == .dropOldest))
        if run.outcomeOfDelivery[delivery] == nil { run.outcomeOfDelivery[delivery] = number }
    }
}
