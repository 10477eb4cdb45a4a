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

    /// - Parameters:
    ///   - isExact: whether all records are one lane, in the order of the file.
    ///   - ignored: the names of notifications to leave out, with everything that they cause.
    ///   - isSelected: whether to compare an entry.
    init(
        _ index: RecordingIndex, isExact: Bool = false, ignored: Set<String> = [],
        isSelected: (Recording.Entry) -> Bool = { _ in true }
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
            place(number, entry, isExact, isSelected(entry))
        }
        for (number, thread) in recording.threads.enumerated() where !isActive[number] {
            let process = processName(thread.process)
            let isUnnamed = !thread.isInPool && thread.identity.number != 1 && thread.identity.name == nil
            if isUnnamed, run.truncated.contains(process) { run.names[number].label = nil }
        }
        run.shapes = recording.entries.map { ComparedRun.hash($0.stage, text($0.name)) }
        for (number, entry) in recording.entries.enumerated() where run.lines[number].skeleton != 0 {
            addTokens(number, entry, isExact)
            addOutcome(Int32(number), entry)
        }
    }

    /// The number of threads with compared records.
    var comparedThreadCount: Int {
        let compared = recording.entries.indices.lazy.filter { run.isCompared(Int32($0)) }
        return Set(compared.map { threadName(recording.entries[$0].thread) }).count
    }

    // MARK: Names

    /// The name of a thread has its index.
    func threadName(_ thread: Int32) -> Int32 { thread < 0 ? -1 : standIns[Int(thread)] }

    func processName(_ process: Int32) -> Int32 { Int32(recording.threads.count) + process }

    func postName(_ post: Int32) -> Int32 {
        post < 0 ? -1 : Int32(recording.threads.count + recording.processes.count) + post
    }

    func observerName(_ observer: Int32) -> Int32 {
        let before = recording.threads.count + recording.processes.count + recording.posts.count
        return observer < 0 ? -1 : Int32(before) + observer
    }

    /// The observer with a name.
    func observer(_ name: Int32) -> Int32 { name < 0 ? -1 : name - observerName(0) }

    func post(_ name: Int32) -> Int32 { name < 0 ? -1 : name - postName(0) }

    /// What may differ of an entry for a reason.
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

    static let unnamed = ComparedRun.hash("thread", "")

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
            let label = ComparedRun.hash(label)
            run.names += Array(repeating: .init(label: label), count: count)
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

    private mutating func place(_ number: Int, _ entry: Recording.Entry, _ isExact: Bool, _ isSelected: Bool) {
        var lane: Int32?
        if isExact {
            lane = run.lanes.isEmpty ? nil : 0
        } else {
            guard let cause = index.cause(of: number) else { return }
            let parent = cause.entry < 0 ? -1 : run.lines[Int(cause.entry)].lane
            if cause.entry >= 0, parent < 0 { return }
            run.lines[number].cause = cause.entry
            lane = cause.isInSameLane ? parent : self.lane(number, entry, cause, parent)
        }
        if lane == nil { run.lanes.append(.init(key: .init(label: 0, names: []))) }
        run.lines[number].lane = lane ?? 0
        isActive[Int(threadName(entry.thread))] = true
        guard isSelected else { return }
        run.lines[number].skeleton = skeleton(entry)
        run.lanes[Int(lane ?? 0)].lines.append(Int32(number))
    }

    private mutating func lane(
        _ number: Int, _ entry: Recording.Entry, _ cause: RecordCause, _ parent: Int32
    ) -> Int32 {
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
        var hasher = Hasher()
        hasher.combine(entry.stage)
        hasher.combine(text(entry.name))
        hasher.combine(message(of: entry))
        for number in [entry.post, entry.observer, entry.target, entry.relatedPost] { hasher.combine(number < 0) }
        // The number of handlers that run during a removal is chance.
        hasher.combine(entry.stage == .remove ? -1 : entry.count)
        // Addresses are reused, so only the type of the sender is compared.
        hasher.combine(recording.sender(of: entry)?.type)
        hasher.combine(entry.overtakes)
        hasher.combine(entry.style)
        hasher.combine(entry.policy)
        hasher.combine(entry.reason)
        return max(1, hasher.finalize() & .max)
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

    private mutating func addTokens(_ number: Int, _ entry: Recording.Entry, _ isExact: Bool) {
        let start = run.tokens.count
        let names = [
            isExact ? threadName(entry.thread) : -1, postName(entry.post), observerName(entry.observer),
            threadName(entry.target), postName(entry.relatedPost),
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
        let isByPolicy =
            (entry.stage == .coalesce || entry.stage == .drop) && entry.name >= 0 && !kind.isEmpty
        run.outcomes[number] = .init(
            delivery: delivery, topic: ComparedRun.hash(text(entry.name), kind),
            isDelivered: entry.stage == .deliver, isByPolicy: isByPolicy,
            keepsLast: isByPolicy && (entry.stage == .coalesce || entry.policy == .dropOldest))
        if run.outcomeOfDelivery[delivery] == nil { run.outcomeOfDelivery[delivery] = number }
    }
}
