internal import ThreadedNotifications

/// Builds a recording from records that are appended one by one.
struct RecordingBuilder {
    private(set) var recording: Recording
    private var process: Int32 = -1
    private var processPositions: [ProcessIdentity: Int32] = [:]
    private var threads = NumberTable()
    /// Threads by their kernel's ids.
    private var kernelPositions: [Recording.Numbered: Int32] = [:]
    private var posts = NumberTable()
    private var observers = NumberTable()
    private var strings = TextTable()
    private var locationPositions: [SourceLocation: Int32] = [:]
    private var senderPositions: [Recording.Sender: Int32] = [:]
    private var foundationPositions: [Recording.FoundationDetails: Int32] = [:]
    /// True while the times of all entries ascend.
    private var isSorted = true
    /// For each process.
    private var gaps: [Gaps] = []
    /// True if a line is unreadable, which may be a line of any process.
    private var hasUnreadableLine = false

    /// The known gaps in the records of a process.
    private struct Gaps {
        var endsWithinLine = false
        var lost = 0
        var missing = 0
        var isDamaged = false
        var hasEnd = false
        /// True if every record is in the file as soon as it is made, as in version 3.
        var isWrittenAtOnce = false
    }

    private static let mostProblems = 100

    init(source: String) {
        recording = Recording(source: source)
    }

    mutating func append(_ entry: Recording.Entry) {
        if let last = recording.entries.last, last.time > entry.time { isSorted = false }
        recording.entries.append(entry)
        switch entry.stage {
        case .end, .processEnd: gaps[currentProcess].hasEnd = true
        case .lost: gaps[currentProcess].lost &+= Int(max(1, entry.count))
        default: break
        }
    }

    mutating func note(_ kind: RecordingProblem.Kind, _ problem: String, line: Int? = nil) {
        switch kind {
        case .truncatedLine: if process >= 0 { gaps[currentProcess].endsWithinLine = true }
        case .numbering: gaps[currentProcess].isDamaged = true
        case .unreadableLine, .noHeader, .otherVersion: hasUnreadableLine = true
        }
        recording.problemCount += 1
        guard recording.problems.count < Self.mostProblems else { return }
        recording.problems.append(RecordingProblem(kind: kind, source: recording.source, line: line, text: problem))
    }

    /// Notes what could not be recorded in the current process.
    mutating func noteUnrecorded(_ reason: String) {
        guard recording.unrecorded.count < Self.mostProblems else { return }
        recording.unrecorded.append(Recording.Unrecorded(process: process, reason: reason))
    }

    /// - Parameter count: negative for records that were counted as missing and came late.
    mutating func noteMissing(_ count: Int) {
        let (sum, isTooMany) = gaps[currentProcess].missing.addingReportingOverflow(count)
        gaps[currentProcess].missing = isTooMany ? .max : max(0, sum)
    }

    mutating func finish() -> Recording {
        if !isSorted {
            // Records of the same nanosecond keep their order.
            recording.entries.sort { ($0.time, $0.line) < ($1.time, $1.line) }
        }
        (recording.strings, recording.posts) = (strings.strings, posts.elements)
        recording.observers = observers.elements
        if !recording.foundationDetails.isEmpty { recording.completeFoundationRecords() }
        recording.completeness = gaps.map(completeness)
        return recording
    }

    private func completeness(_ gaps: Gaps) -> Recording.Completeness {
        if gaps.endsWithinLine { return .truncated(.line) }
        if gaps.lost > 0 { return .truncated(.lost(gaps.lost)) }
        if gaps.missing > 0 { return .truncated(.missing(gaps.missing)) }
        if gaps.isDamaged || hasUnreadableLine { return .truncated(.damaged) }
        if gaps.hasEnd { return .complete }
        return gaps.isWrittenAtOnce ? .endedWithoutNotice : .truncated(.noEnd)
    }

    // MARK: Tables

    /// Sets the process of the records that follow.
    ///
    /// The same process id, directly after another program's records, means that the process executed this program.
    ///
    /// - Parameter isNew: true for another process than any before, even one of the same id and name.
    mutating func setProcess(
        _ identity: ProcessIdentity, wallOffset: Int64, isNew: Bool = false, isWrittenAtOnce: Bool = false
    ) {
        if !isNew, process >= 0, recording.processes[Int(process)] == identity { return }
        let count = Int32(recording.processes.count)
        let previous = currentProcess
        process = isNew ? count : processPositions[identity] ?? count
        guard process == count else { return }
        if previous >= 0, gaps[previous].isWrittenAtOnce, recording.processes[previous].id == identity.id {
            gaps[previous].hasEnd = true
        }
        processPositions[identity] = process
        recording.processes.append(identity)
        recording.wallOffsets.append(wallOffset)
        gaps.append(Gaps(isWrittenAtOnce: isWrittenAtOnce))
    }

    /// An index in the table of processes; -1 before the first process.
    var currentProcess: Int { Int(process) }
    var count: Int { recording.entries.count }

    /// The thread with this kernel id in the current process; nil if it is not known. The main thread has the
    /// process's.
    mutating func thread(kernelID: Int32) -> Int32? {
        kernelPositions[Recording.Numbered(process: process, number: Int(kernelID))]
            ?? (kernelID == recording.processes[Int(process)].id ? thread(numbered: 1) : nil)
    }

    /// Marks a thread of the current process as one of a pool.
    mutating func noteInPool(_ thread: Int32) { recording.threads[Int(thread)].isInPool = true }

    /// The index of a thread of the current process. A name that becomes known later also applies to earlier records.
    mutating func thread(_ identity: ThreadIdentity) -> Int32 {
        let position = thread(numbered: identity.number)
        let known = recording.threads[Int(position)].identity
        if known.name != identity.name || known.kernelID != identity.kernelID {
            recording.threads[Int(position)].identity = identity
            kernelPositions[Recording.Numbered(process: process, number: Int(identity.kernelID))] = position
        }
        return position
    }

    mutating func thread(numbered number: Int) -> Int32 {
        let position = threads.position(of: Recording.Numbered(process: process, number: number))
        guard position == recording.threads.count else { return position }
        let name = number == 1 ? "main" : nil
        recording.threads.append(
            Recording.Thread(process: process, identity: ThreadIdentity(number: number, name: name, kernelID: 0)))
        return position
    }

    mutating func post(_ number: Int) -> Int32 {
        posts.position(of: Recording.Numbered(process: process, number: number))
    }

    mutating func observer(_ number: Int) -> Int32 {
        observers.position(of: Recording.Numbered(process: process, number: number))
    }

    mutating func string(_ text: String) -> Int32 { strings.position(of: text) }

    mutating func string(_ text: UnsafeBufferPointer<UInt8>) -> Int32 { strings.position(of: text) }

    func string(at position: Int32) -> String { strings.strings[Int(position)] }

    mutating func location(_ location: SourceLocation) -> Int32 {
        Self.position(of: location, in: &recording.locations, known: &locationPositions)
    }

    mutating func sender(_ sender: Recording.Sender) -> Int32 {
        Self.position(of: sender, in: &recording.senders, known: &senderPositions)
    }

    mutating func foundationDetails(_ details: Recording.FoundationDetails) -> Int32 {
        Self.position(of: details, in: &recording.foundationDetails, known: &foundationPositions)
    }

    /// The index of an element in a table; appends it if it is new.
    private static func position<Element: Hashable>(
        of element: Element, in table: inout [Element], known: inout [Element: Int32]
    ) -> Int32 {
        if let position = known[element] { return position }
        let position = Int32(table.count)
        known[element] = position
        table.append(element)
        return position
    }
}
