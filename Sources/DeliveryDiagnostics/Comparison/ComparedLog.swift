internal import TerminalText

/// Makes lanes of a text log: of a thread, of a request or task, or of one run of work of a pool.
struct ComparedLog: ComparedSource {
    private(set) var run: ComparedRun
    let log: TextLog
    let threads: LogThreads
    private var known: [String: Int] = [:]
    private let writersOfID: [String?: [Int]]

    init(_ log: TextLog, _ threads: LogThreads) {
        (self.log, self.threads, run) = (log, threads, ComparedRun(lineCount: log.messages.count))
        run.isText = true
        // A thread is the same one in each of its chains.
        var found: Set<TextLog.Writer> = []
        let writers = log.writers.indices.filter { found.insert(log.writers[$0].withoutChain).inserted }
        writersOfID = Dictionary(grouping: writers) { log.writers[$0].id }
        run.names = log.writers.map { writer in
            ComparedRun.Name(
                label: ComparedRun.hash("thread", threads.groups[writer]), isShared: threads.isUnordered(writer))
        }
        for (number, writer) in log.writers.enumerated() {
            if let process = writer.process { run.names[number].owner = name("process", LogText.id(process)) }
        }
        var lanes: [Int: Int] = [:]
        for (number, message) in log.messages.enumerated() {
            let writer = log.writers[message.writer]
            let chain = threads.usesChains ? writer.chain.map { name("chain", $0) } : nil
            let owner = chain ?? message.writer
            // Without --unit, each line of a pool is a run of its own.
            let isRun = run.names[owner].isShared
            if isRun && (message.beginsUnit || log.unit == nil) || lanes[owner] == nil {
                let label = ComparedRun.hash(threads.groups[writer], isRun)
                let lane = run.lane(.init(label: label, names: isRun ? [] : [owner]))
                run.lanes[lane].mayBeReused =
                    !isRun && chain == nil && writer.id != nil && writer.id != writer.process
                lanes[owner] = lane
            }
            let shape = ComparedRun.hash(message.text.filter { !$0.isNumber })
            run.setLine(number, parts(number), shape: shape, lane: lanes[owner] ?? 0)
        }
    }

    private mutating func name(_ kind: String, _ text: String) -> Int {
        if let name = known["\(kind) \(text)"] { return name }
        known["\(kind) \(text)"] = run.names.count
        run.names.append(.init(label: ComparedRun.hash(kind)))
        return run.names.count - 1
    }

    private func writer(_ line: Int) -> TextLog.Writer { log.writers[log.messages[line].writer] }

    private func text(_ line: Int) -> LogText {
        LogText(log.messages[line].text, threads, process: writer(line).process)
    }

    // MARK: Lines

    func parts(_ line: Int) -> [ComparedRun.Part] {
        let text = text(line)
        return [(.message, .value(ComparedRun.hash(text.skeleton)))]
            + text.ids.map { (.message, .id(ComparedRun.hash($0), names(ofID: $0, line))) }
    }

    /// The threads with an id, those of the same process first, and the process.
    private func names(ofID id: String, _ line: Int) -> [Int] {
        let found = writersOfID[id] ?? []
        let own = found.filter { log.writers[$0].process == writer(line).process }
        return (own.isEmpty ? found : own) + [known["process \(id)"]].compactMap(\.self)
    }

    func event(_ line: Int) -> RunEvent? {
        let lane = run.lines[line].lane
        return RunEvent(
            text: .init(subject: text(line).shown, verb: "is written by", isMessage: true),
            thread: run.lanes[lane].key.names.first ?? log.messages[line].writer, lane: lane)
    }

    func time(_ line: Int) -> String { log.messages[line].time ?? "\(line)" }

    // MARK: Reports

    var path: String { log.name }

    var isComplete: Bool { log.isComplete }

    var threadCount: Int { log.writers.count }

    func place(_ thread: Int) -> String {
        guard log.writers.indices.contains(thread) else {
            return ShownText.name(known.first { $0.value == thread }?.key ?? "")
        }
        let (writer, name) = (log.writers[thread], threads.usesNames ? log.writers[thread].name : nil)
        return name.map { ShownText.name($0) } ?? "thread \(ShownText.name(writer.id ?? writer.name ?? ""))"
    }

    func role(_ thread: Int) -> String? {
        guard log.writers.indices.contains(thread), case let writer = log.writers[thread] else { return nil }
        let group = threads.groups[writer] ?? ""
        if group.isEmpty { return writer.id != nil && writer.id == writer.process ? "main" : nil }
        return ShownText.name(Excerpt.of(group))
    }

    func side(_ line: Int?) -> RunDifference.Side {
        guard let line else { return .init(source: path) }
        let message = log.messages[line]
        return .init(source: path, line: message.line, thread: writer(line).name, text: message.shown)
    }
}
