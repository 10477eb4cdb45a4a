internal import DeliveryRecording
internal import TerminalText
internal import ThreadedNotifications

/// What detectors look at: a recording's index, the limits, and the answers that several detectors need. Detectors are
/// extensions of it.
struct Evidence: Sendable {
    let words: RecordWords
    let limits: DiagnosisLimits
    let accounts: Accounts
    let faults: [Fault]
    /// The number of posts, with those that no observer matched.
    let postCount: Int
    /// Of the whole recording, in the order of the index's observers.
    let matches: [Accounts.Account]
    /// For each thread that is in a handler when the recording ends: the innermost one.
    let running: [Int32: RecordingIndex.Span]
    /// What waits for a thread that has not ended, in the order of the recording.
    let waiting: [Int32: [RecordingIndex.Delivery]]
    private let threadOfNumber: [Recording.Numbered: Int32]

    /// - Parameter selection: the posts that the accounts are about; all, if it is nil.
    init(_ index: RecordingIndex, _ limits: DiagnosisLimits, _ selection: RecordingSelection? = nil) {
        words = RecordWords(index)
        self.limits = limits
        let posts = selection?.posts(of: index.recording)
        func includes(_ number: Int32) -> Bool {
            guard let posts, case let entry = index.entry(number) else { return true }
            return entry.post < 0 ? selection?.contains(entry) == true : posts[Int(entry.post)]
        }
        accounts = Accounts(index, includes: includes)
        faults = Self.faults(words, accounts, includes: includes)
        postCount = index.posts.count { $0.posted >= 0 && index.isPost($0.posted) && includes($0.posted) }
        matches = (posts == nil ? accounts : Accounts(index)).ofObservers(index.observers.count)
        running = index.runningHandlers
        let pending = index.deliveries.filter { $0.isPending && $0.append >= 0 }
        waiting = Dictionary(grouping: pending, by: index.target).filter {
            $0.key >= 0 && index.threads[Int($0.key)].end < 0
        }
        let numbers = zip(Int32(0)..., index.recording.threads).map {
            (Recording.Numbered(process: $1.process, number: $1.identity.number), $0)
        }
        threadOfNumber = Dictionary(numbers) { $1 }
    }

    var index: RecordingIndex { words.index }
    var recording: Recording { words.index.recording }
    var histories: [NameHistory] { index.histories }
    var stall: UInt64 { limits.stall.nanoseconds }

    func process(of thread: Int32) -> Int { Int(recording.threads[Int(thread)].process) }

    /// The time from a record to the last one of its process.
    func timeToEnd(_ record: Int32) -> UInt64 {
        index.time(from: record, to: index.processes[recording.process(of: index.entry(record))].last)
    }

    // MARK: Observers

    /// What the record of adding an observer says about a Foundation center.
    func foundation(of observer: Int32) -> Recording.FoundationDetails? {
        index.registration(of: observer).flatMap(recording.foundationDetails)
    }

    func counts(of observer: Int32) -> Accounts.Counts { matches[Int(observer)].counts }

    /// True if nothing was delivered to an observer, also of posts from before the recording.
    func hasReceivedNothing(_ observer: Int32) -> Bool {
        counts(of: observer)[.delivered] == 0 && index.observers[Int(observer)].earlier == 0
    }

    // MARK: Words

    /// For example `, added at Demo/main.swift:7`.
    func added(_ observer: Int32) -> String { words.location(of: words.registered(observer), ", added at ") }

    /// For example `by main at Demo/main.swift:12`, for the record of a post or of a block.
    func by(_ source: Int32) -> String {
        "by \(words.thread(index.entry(source).thread))\(words.location(of: source, " at "))"
    }

    // MARK: Threads and waits

    /// The handler that a thread is in, and the time since its last record; nil if it is in none, or not for longer than
    /// a stall. It is not stuck if the program ended in it, or if its thread recorded something later.
    func silence(of thread: Int32) -> (handler: RecordingIndex.Span, time: UInt64)? {
        let last = index.threads[Int(thread)].last
        guard let handler = running[thread], last >= 0, index.threads[Int(thread)].end < 0,
            words.hasEndedProcess(thread) != true, case let time = timeToEnd(last), time > stall
        else { return nil }
        return (handler, time)
    }

    /// The threads that a wait is for: its target, or the threads that its message names.
    func targets(of entry: Recording.Entry) -> [Int32] {
        if entry.target >= 0 { return [entry.target] }
        let process = recording.threads[Int(entry.thread)].process
        return MessagePart.parts(of: recording.message(of: entry) ?? "").compactMap { part -> Int32? in
            guard case .thread(let thread) = part, !thread.isKernelID else { return nil }
            return threadOfNumber[Recording.Numbered(process: process, number: thread.number)]
        }
    }

    /// True for the waits of `postAndWait` and `performAndWait`.
    func isForDelivery(_ wait: RecordingIndex.Span) -> Bool {
        guard wait.isWait, let message = recording.message(of: index.entry(wait.begin)) else { return false }
        return message.contains(" to handle ") || message.contains(" to perform ")
    }

    /// What a wait is for, in the words of the library.
    func message(of wait: Recording.Entry) -> String? {
        recording.message(of: wait).map { Excerpt.of(RecordWords.withThreadNames($0)) }
    }

    /// Waits of one source location belong together, or those with one message if the location is unknown.
    func place(of wait: Int32) -> [Int32] {
        let entry = index.entry(wait)
        return entry.location >= 0 ? [entry.location] : [-1, entry.message]
    }
}

extension Sequence {
    /// The elements with equal keys together.
    func grouped(by key: (Element) -> some Hashable) -> [[Element]] {
        Array(Dictionary(grouping: self, by: key).values)
    }
}
