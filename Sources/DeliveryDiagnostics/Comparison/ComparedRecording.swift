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
    private let isInPool: [Bool]
    /// For each string: its number as a name, and as a message.
    private let texts: [(name: Int, message: Int, threads: [ThreadDescription])]
    private var lanes: [ComparedRun.LaneKey: Int32] = [:]
    private var isActive: [Bool]

    /// - Parameters:
    ///   - ignored: the names of notifications to leave out, with everything that they cause.
    ///   - byPolicy: the names of notifications of which the outcomes are left out, with everything that they cause.
    ///   - havePools: whether to tell threads of pools from others.
    init(
        _ index: RecordingIndex, ignored: Set<String> = [], byPolicy: Set<String> = [], havePools: Bool = true
    ) {
        self.index = index
        let recording = index.recording
        texts = recording.strings.map { text in
            let parts = LogText(text)
            return (ComparedRun.hash(text), ComparedRun.hash(parts.skeleton), parts.threads)
        }
        isInPool = recording.threads.map { havePools && $0.isInPool }
        standIns = recording.threads.indices.map { [isInPool] number in
            guard isInPool[number] else { return Int32(number) }
            let process = recording.threads[number].process
            let first = isInPool.indices.first { isInPool[$0] && recording.threads[$0].process == process }
            return Int32(first ?? number)
        }
        isActive = Array(repeating: false, count: recording.threads.count)
        run.isTruncated = recording.incompleteness != nil
        run.lines = Array(repeating: ComparedRun.Line(), count: recording.entries.count)
        addNames()
        let leftOut = Set(ignored.compactMap(recording.name(called:)))
        let undecided = Set(byPolicy.compactMap { recording.strings.firstIndex(of: $0).map(Int32.init) })
        for (number, entry) in recording.entries.enumerated() where !leftOut.contains(entry.name) {
            if !(undecided.contains(entry.name) && isOutcome(number, entry)) { place(number, entry) }
        }
        for (number, entry) in recording.entries.enumerated() where run.lines[number].skeleton != 0 {
            addTokens(number, entry)
        }
    }

    /// The number of threads with compared records.
    var comparedThreadCount: Int {
        Set(zip(run.lines, recording.entries).filter { $0.0.skeleton != 0 }.map { threadName($1.thread) }).count
    }

    /// True for what became of a notification in a mailbox or in a posting queue.
    private func isOutcome(_ number: Int, _ entry: Recording.Entry) -> Bool {
        entry.post >= 0
            && (entry.stage.isOutcome || entry.observer < 0 && index.posts[Int(entry.post)].queueOutcome == number)
    }

    // MARK: Names

    /// The name of a thread has its index; those of processes, posts and observers follow.
    func threadName(_ thread: Int32) -> Int32 { thread < 0 ? -1 : standIns[Int(thread)] }

    func processName(_ process: Int32) -> Int32 { Int32(recording.threads.count) + process }

    private var posts: Int32 { processName(Int32(recording.processes.count)) }
    private var observers: Int32 { posts + Int32(recording.posts.count) }

    func postName(_ post: Int32) -> Int32 { post < 0 ? -1 : posts + post }

    func observerName(_ observer: Int32) -> Int32 { observer < 0 ? -1 : observers + observer }

    /// Describes a thread, a post or an observer.
    func words(_ name: Int32) -> String {
        if name >= observers { return recording.describeObserver(name - observers) }
        if name >= posts { return recording.describePost(name - posts) }
        let identity = recording.threads[Int(name)].identity
        return recording.describeThread(name) + (identity.name == nil ? "" : " (thread \(identity.number))")
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

    /// The name of the notification that an entry is about, as a string of the recording; -1 for a block.
    func name(of entry: Recording.Entry) -> Int32 {
        entry.name >= 0 || entry.post < 0 ? entry.name : index.name(ofPost: entry.post)
    }

    /// A record for a report; the file if there is none.
    func side(_ line: Int32?) -> RunDifference.Side {
        guard let line else { return .init(source: recording.source) }
        let entry = index.entry(line)
        return .init(
            source: recording.source, line: Int(entry.line), thread: recording.describeThread(entry.thread),
            stage: entry.stage, text: RecordWords(index).threadAndWords(line))
    }

    /// Equal for threads that may correspond: those of one name, main, those without a name, or those of pools.
    func label(_ thread: Int32) -> Int { thread < 0 ? 0 : run.names[Int(thread)].label }

    private mutating func addNames() {
        let isOne = recording.processes.count == 1
        run.names = recording.threads.enumerated().map { number, thread in
            let process = isOne ? "" : recording.processes[Int(thread.process)].name
            let name = thread.identity.number == 1 ? "main" : thread.identity.name.map { "name \($0)" } ?? ""
            return .init(
                label: ComparedRun.hash("thread", isInPool[number] ? "pool" : name, process),
                owner: processName(thread.process))
        }
        run.names += recording.processes.map { .init(label: ComparedRun.hash("process", isOne ? "" : $0.name)) }
        for (label, count) in [("post", recording.posts.count), ("observer", recording.observers.count)] {
            run.names += Array(repeating: .init(label: ComparedRun.hash(label)), count: count)
        }
        for (process, completeness) in recording.completeness.enumerated() {
            if case .truncated = completeness { run.truncated.insert(processName(Int32(process))) }
        }
    }

    /// The number of a string, or 0.
    private func text(_ string: Int32) -> Int { string < 0 ? 0 : texts[Int(string)].name }

    // MARK: Lanes

    private mutating func place(_ number: Int, _ entry: Recording.Entry) {
        guard let cause = index.cause(of: number) else { return }
        let parent = cause.entry < 0 ? -1 : run.lane(ofLine: cause.entry)
        if cause.entry >= 0, parent < 0 { return }
        let lane = cause.isInSameLane ? parent : lane(entry, cause, parent)
        (run.lines[number].cause, run.lines[number].lane) = (cause.entry, lane)
        isActive[Int(threadName(entry.thread))] = true
        run.lines[number].skeleton = skeleton(entry)
        // An `append` stands for its handler, and `enqueue` for a post.
        let stage = entry.stage == .append ? .deliver : entry.stage == .enqueue ? .post : entry.stage
        run.lines[number].shape = ComparedRun.hash(stage, text(name(of: entry)), message(of: entry))
        run.lanes[Int(lane)].lines.append(Int32(number))
    }

    private mutating func lane(_ entry: Recording.Entry, _ cause: RecordCause, _ parent: Int32) -> Int32 {
        let thread = threadName(entry.thread)
        var key = ComparedRun.LaneKey(label: label(thread), parent: parent, names: [thread])
        if !isInPool[Int(thread)] {
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

    /// The number of handlers that run during a removal is chance, and so is whether its token was cancelled or
    /// released. A post to a Foundation center has the number of its handlers when it ends.
    func count(_ entry: Recording.Entry) -> Int32 {
        entry.stage == .remove || entry.stage == .post && entry.isFoundation ? -1 : entry.count
    }

    /// Properties that are compared together.
    func details(_ entry: Recording.Entry) -> [AnyHashable] {
        let isChance = entry.reason == .cancelled || entry.reason == .released
        return [entry.overtakes, entry.style, entry.policy, isChance ? nil : entry.reason]
    }

    /// Addresses are reused, so only the type of the sender is compared.
    private func skeleton(_ entry: Recording.Entry) -> Int {
        ComparedRun.hash(
            entry.stage, text(entry.name), message(of: entry),
            [entry.post, entry.observer, entry.target, entry.relatedPost].map { $0 < 0 }, count(entry),
            recording.sender(of: entry)?.type, details(entry))
    }

    private func token(_ mention: ThreadDescription, _ entry: Recording.Entry) -> ComparedRun.Token {
        let process = recording.threads[Int(entry.thread)].process
        let isMain =
            mention.number == 1 || mention.isKernelID && mention.number == Int(recording.processes[Int(process)].id)
        let label = ComparedRun.hash(mention.name ?? (isMain ? "main" : ""), isMain)
        if isMain { return .thread(label, []) }
        let thread = recording.threads.indices.first { number in
            let (thread, identity) = (recording.threads[number], recording.threads[number].identity)
            let id = mention.isKernelID ? Int(identity.kernelID) : identity.number
            return thread.process == process && id == mention.number && isActive[Int(standIns[number])]
        }
        if thread == nil, run.truncated.contains(processName(process)) { return .unknown }
        return .thread(label, thread.map { [standIns[$0]] } ?? [])
    }

    /// True if a truncated run may lack the records and the name of a thread.
    private func isUnknown(_ thread: Int32) -> Bool {
        guard thread >= 0, case let known = recording.threads[Int(thread)], known.identity.name == nil else {
            return false
        }
        return !isActive[Int(thread)] && run.truncated.contains(processName(known.process))
    }

    private mutating func addTokens(_ number: Int, _ entry: Recording.Entry) {
        let start = run.tokens.count
        let target = threadName(entry.target)
        let isTargetUnknown = isUnknown(target)
        let names = [postName(entry.post), observerName(entry.observer), target, postName(entry.relatedPost)]
        run.tokens += names.lazy.filter { $0 >= 0 }.map { $0 == target && isTargetUnknown ? .unknown : .name($0) }
        for mention in mentions(of: entry) { run.tokens.append(token(mention, entry)) }
        run.lines[number].tokens = start..<run.tokens.count
    }
}
