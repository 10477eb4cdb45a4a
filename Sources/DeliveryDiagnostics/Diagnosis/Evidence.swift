internal import DeliveryRecording
internal import TerminalText
internal import ThreadedNotifications

/// What detectors look at: a recording's index, and the answers that several of them need.
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
        faults = FaultSearch(words, accounts, includes: includes).faults
        postCount = index.posts.count { $0.posted >= 0 && index.isPost($0.posted) && includes($0.posted) }
        matches = (posts == nil ? accounts : Accounts(index)).ofObservers(index.observers.count)
        running = index.runningHandlers
        let numbers = zip(Int32(0)..., index.recording.threads).map {
            (Recording.Numbered(process: $1.process, number: $1.identity.number), $0)
        }
        threadOfNumber = Dictionary(numbers) { $1 }
    }

    var index: RecordingIndex { words.index }
    var recording: Recording { words.index.recording }
    var histories: [NameHistory] { index.histories }

    func process(of thread: Int32) -> Int { Int(recording.threads[Int(thread)].process) }

    /// The time from a record to the last one of its process.
    func timeToEnd(_ record: Int32) -> UInt64 {
        index.time(from: record, to: index.processes[recording.process(of: index.entry(record))].last)
    }

    /// What the record of adding an observer says about a Foundation center.
    func foundation(of observer: Int32) -> Recording.FoundationDetails? {
        index.registration(of: observer).flatMap(recording.foundationDetails)
    }

    /// The name that an observer was added for; -1 for any name, and if it is unknown.
    func observedName(_ observer: Int32) -> Int32 { index.registration(of: observer)?.name ?? -1 }

    /// What waits for a thread that has not ended, in the order of the recording.
    var waiting: [Int32: [RecordingIndex.Delivery]] {
        let waiting = index.deliveries.filter { $0.isPending && $0.append >= 0 }
        return Dictionary(grouping: waiting, by: index.target).filter {
            $0.key >= 0 && index.threads[Int($0.key)].end < 0
        }
    }

    /// The handler that a thread is in, and the time since its last record; nil if it is in none, or not for longer than
    /// a stall. It is not stuck if the program ended in it, or if its thread recorded something later.
    func silence(of thread: Int32) -> (handler: RecordingIndex.Span, time: UInt64)? {
        let last = index.threads[Int(thread)].last
        guard let handler = running[thread], last >= 0, index.threads[Int(thread)].end < 0,
            words.hasEndedProcess(thread) != true, case let time = timeToEnd(last), time > limits.stall.nanoseconds
        else { return nil }
        return (handler, time)
    }

    // MARK: Waits

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
        let message = recording.message(of: index.entry(wait.begin)) ?? ""
        return wait.isWait && (message.contains(" to handle ") || message.contains(" to perform "))
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
