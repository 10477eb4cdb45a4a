internal import DeliveryRecording

/// What detectors look at: a recording's index, the limits, and the answers that several detectors need.
struct Evidence: Sendable {
    let words: RecordWords
    let limits: DiagnosisLimits
    let accounts: Accounts
    /// In the order of the index's observers.
    let matches: [Accounts.Account]
    /// For each thread that is in a handler when the recording ends: the innermost one.
    let running: [Int32: RecordingIndex.Span]
    /// What waits for a thread that has not ended, in the order of the recording.
    let waiting: [Int32: [RecordingIndex.Delivery]]
    /// For each thread that waits in `postAndWait` or `performAndWait` for longer than a stall when the recording ends:
    /// the innermost wait.
    private(set) var endlessWaits: [Int32: RecordingIndex.Span] = [:]
    /// Of the running handlers, those whose threads recorded nothing for a stall, and do not wait or end the program.
    private(set) var silent: [Int32: RecordingIndex.Span] = [:]
    /// Other threads that do not drain, although something has waited for them for longer than a stall.
    private(set) var stopped: Set<Int32> = []
    /// All these threads, and those that the endless waits are for.
    private(set) var stuck: Set<Int32> = []

    init(_ index: RecordingIndex, _ limits: DiagnosisLimits) {
        words = RecordWords(index: index)
        self.limits = limits
        accounts = Accounts(index)
        matches = accounts.ofObservers(index.observers.count)
        running = index.runningHandlers
        let pending = index.deliveries.filter { $0.isPending && $0.append >= 0 }
        waiting = Dictionary(grouping: pending, by: index.target).filter {
            $0.key >= 0 && index.threads[Int($0.key)].end < 0
        }
        let open = index.spans.filter { $0.ending == .open && timeToEnd($0.begin) > stall && isForDelivery($0) }
        endlessWaits = Dictionary(open.map { ($0.thread, $0) }) { $1 }
        silent = running.filter { thread, _ in
            let last = index.threads[Int(thread)].last
            return last >= 0 && timeToEnd(last) > stall && index.threads[Int(thread)].end < 0
                && words.hasEndedProcess(thread) != true && endlessWaits[thread] == nil
        }
        stuck = Set(open.map(target).filter { $0 >= 0 }).union(endlessWaits.keys).union(silent.keys)
        stopped = Set(
            waiting.filter { thread, waiting in
                let (first, observer) = (waiting[0].append, waiting[0].observer)
                return timeToEnd(first) > stall && !stuck.contains(thread)
                    // A thread that has handled something for the same observer since then is slow, not stuck.
                    && !index.spans.contains { span in
                        span.begin > first && span.thread == thread && index.observer(of: span) == observer
                            && !span.isWait
                    }
            }.keys)
        stuck.formUnion(stopped)
    }

    var index: RecordingIndex { words.index }
    var recording: Recording { words.index.recording }
    var histories: [NameHistory] { index.histories }
    var mainBudget: UInt64 { UInt64(limits.mainBudget.nanoseconds) }
    var stall: UInt64 { UInt64(limits.stall.nanoseconds) }

    func process(of thread: Int32) -> Int { Int(recording.threads[Int(thread)].process) }

    /// The time from a record to the last one of its process.
    func timeToEnd(_ record: Int32) -> UInt64 {
        index.time(from: record, to: index.processes[recording.process(of: index.entry(record))].last)
    }

    /// True if nothing was delivered to an observer, also of posts from before the recording.
    func hasReceivedNothing(_ observer: Int32) -> Bool {
        matches[Int(observer)].counts[.delivered] == 0 && index.observers[Int(observer)].earlier == 0
    }
}

extension Sequence {
    /// The elements with equal keys together.
    func grouped(by key: (Element) -> some Hashable) -> [[Element]] {
        Array(Dictionary(grouping: self, by: key).values)
    }
}
