internal import ThreadedNotifications

/// Builds a recording from records that are appended one by one.
struct RecordingBuilder {
    /// What was read of a process.
    struct Progress {
        /// The time of its first header.
        var begin: UInt64 = 0
        var numbers = ReadNumbers()
        var endsWithinLine = false
        var lost = 0
        var missing = 0
        var isDamaged = false
        var hasEnd = false
        /// True if every record is in the file as soon as it is made, as in version 3.
        var isWrittenAtOnce = false

        /// - Parameter count: negative for records that were counted as missing and came late.
        mutating func noteMissing(_ count: Int) {
            let (sum, isTooMany) = missing.addingReportingOverflow(count)
            missing = isTooMany ? .max : max(0, sum)
        }

        fileprivate func completeness(hasUnreadableLine: Bool) -> Recording.Completeness {
            if endsWithinLine { return .truncated(.line) }
            if lost > 0 { return .truncated(.lost(lost)) }
            if missing > 0 { return .truncated(.missing(missing)) }
            if isDamaged || hasUnreadableLine { return .truncated(.damaged) }
            if hasEnd { return .complete }
            return isWrittenAtOnce ? .endedWithoutNotice : .truncated(.noEnd)
        }
    }

    /// A problem in the file. The rest of the file is read nevertheless.
    enum Problem {
        /// The file ends within a line.
        case truncatedLine
        /// A line cannot be used.
        case unreadableLine
        /// Records are missing, repeated or out of order.
        case numbering
    }

    private(set) var recording: Recording
    /// The current process; -1 before the first.
    private(set) var process: Int32 = -1
    private var progressOfProcess: [Progress] = []
    private var processes: [ProcessIdentity: Int32] = [:]
    private var threads = Table<Recording.Numbered>()
    /// By their kernel's ids.
    private var kernelThreads: [Recording.Numbered: Int32] = [:]
    private var posts = Table<Recording.Numbered>()
    private var observers = Table<Recording.Numbered>()
    private var strings = Table<String>()
    private var locations = Table<SourceLocation>()
    private var senders = Table<Recording.Sender>()
    private var foundationDetails = Table<Recording.FoundationDetails>()
    /// True while the times of all entries ascend.
    private var isSorted = true
    /// True if a line is unreadable, which may be a line of any process.
    private var hasUnreadableLine = false

    private static let mostProblems = 100

    init(source: String) { recording = Recording(source: source) }

    var count: Int { recording.entries.count }

    /// Of the current process.
    var progress: Progress {
        get { progressOfProcess[Int(process)] }
        _modify { yield &progressOfProcess[Int(process)] }
    }

    mutating func append(_ entry: Recording.Entry) {
        if let last = recording.entries.last, last.time > entry.time { isSorted = false }
        recording.entries.append(entry)
        switch entry.stage {
        case .end, .processEnd: progress.hasEnd = true
        case .lost: progress.lost &+= Int(max(1, entry.count))
        default: break
        }
    }

    mutating func note(_ kind: Problem, _ problem: String, line: Int) {
        switch kind {
        case .truncatedLine: if process >= 0 { progress.endsWithinLine = true }
        case .numbering: progress.isDamaged = true
        case .unreadableLine: hasUnreadableLine = true
        }
        recording.problemCount += 1
        guard recording.problems.count < Self.mostProblems else { return }
        recording.problems.append(LogError(log: recording.source, line: line, problem: problem))
    }

    /// Notes what could not be recorded in the current process.
    mutating func noteUnrecorded(_ reason: String) {
        guard recording.unrecorded.count < Self.mostProblems else { return }
        recording.unrecorded.append(Recording.Unrecorded(process: process, reason: reason))
    }

    mutating func finish() -> Recording {
        // Records of the same nanosecond keep their order.
        if !isSorted { recording.entries.sort { ($0.time, $0.line) < ($1.time, $1.line) } }
        (recording.strings, recording.senders) = (strings.elements, senders.elements)
        recording.locations = locations.elements
        (recording.posts, recording.observers) = (posts.elements, observers.elements)
        recording.foundationDetails = foundationDetails.elements
        if !recording.foundationDetails.isEmpty {
            var details = foundationDetails
            recording.completeFoundationRecords { details.position(of: $0) }
            recording.foundationDetails = details.elements
        }
        recording.completeness = progressOfProcess.map { $0.completeness(hasUnreadableLine: hasUnreadableLine) }
        return recording
    }

    /// Sets the process of the records that follow.
    ///
    /// The same process id, directly after another program's records, means that the process executed this program.
    ///
    /// - Parameters:
    ///   - begin: the time of its header.
    ///   - isFirst: true if its first record follows. Process ids are reused, and in containers they are often the
    ///     same, so a later begin means another process.
    /// - Returns: true if there was no record of the process before.
    @discardableResult
    mutating func setProcess(
        _ identity: ProcessIdentity, wallOffset: Int64, begin: UInt64 = 0, isFirst: Bool = false,
        isWrittenAtOnce: Bool = false
    ) -> Bool {
        if let known = processes[identity], !isFirst || progressOfProcess[Int(known)].begin >= begin {
            process = known
            return false
        }
        if process >= 0, progress.isWrittenAtOnce, recording.processes[Int(process)].id == identity.id {
            progress.hasEnd = true
        }
        process = Int32(recording.processes.count)
        processes[identity] = process
        recording.processes.append(identity)
        recording.wallOffsets.append(wallOffset)
        progressOfProcess.append(Progress(begin: begin, isWrittenAtOnce: isWrittenAtOnce))
        return true
    }

    // MARK: Tables

    /// The thread with this kernel id in the current process; nil if it is not known. The main thread has the
    /// process's.
    mutating func thread(kernelID: Int32) -> Int32? {
        kernelThreads[Recording.Numbered(process: process, number: Int(kernelID))]
            ?? (kernelID == recording.processes[Int(process)].id ? thread(numbered: 1) : nil)
    }

    /// The index of a thread of the current process. A name that becomes known later also applies to earlier records.
    @discardableResult
    mutating func thread(_ identity: ThreadIdentity, isInPool: Bool = false) -> Int32 {
        let position = thread(numbered: identity.number)
        recording.threads[Int(position)].identity = identity
        if isInPool { recording.threads[Int(position)].isInPool = true }
        kernelThreads[Recording.Numbered(process: process, number: Int(identity.kernelID))] = position
        return position
    }

    mutating func thread(numbered number: Int) -> Int32 {
        let position = threads.position(of: Recording.Numbered(process: process, number: number))
        if Int(position) == recording.threads.count {
            let identity = ThreadIdentity(number: number, name: number == 1 ? "main" : nil, kernelID: 0)
            recording.threads.append(Recording.Thread(process: process, identity: identity))
        }
        return position
    }

    mutating func post(_ number: Int) -> Int32 { posts.position(of: .init(process: process, number: number)) }

    mutating func observer(_ number: Int) -> Int32 { observers.position(of: .init(process: process, number: number)) }

    mutating func noteOrigin(_ origin: String, ofPost post: Int32) { recording.origins[post] = string(origin) }

    mutating func string(_ text: String) -> Int32 { strings.position(of: text) }

    mutating func location(_ location: SourceLocation) -> Int32 { locations.position(of: location) }

    mutating func sender(_ sender: Recording.Sender) -> Int32 { senders.position(of: sender) }

    mutating func foundationDetails(_ details: Recording.FoundationDetails) -> Int32 {
        foundationDetails.position(of: details)
    }

    /// Distinct elements in the order of their first use.
    private struct Table<Element: Hashable> {
        private(set) var elements: [Element] = []
        private var positions: [Element: Int32] = [:]
        /// Consecutive records often have the same.
        private var last: (element: Element, position: Int32)?

        /// The index of an element; appends it if it is new.
        mutating func position(of element: Element) -> Int32 {
            if let last, last.element == element { return last.position }
            let position = positions[element] ?? Int32(elements.count)
            if position == elements.count {
                elements.append(element)
                positions[element] = position
            }
            last = (element, position)
            return position
        }
    }
}
