/// Makes lanes of a text log: of a thread, of a request or task, or of one run of work of a pool.
struct ComparedLog {
    private(set) var run = ComparedRun(isText: true)
    let log: TextLog
    let threads: LogThreads
    private var known: [String: Int32] = [:]
    private let writersOfID: [String?: [Int]]

    init(_ log: TextLog, _ threads: LogThreads) {
        (self.log, self.threads) = (log, threads)
        // A thread is the same one in each of its chains.
        var found: Set<TextLog.Writer> = []
        let writers = log.writers.indices.filter { found.insert(log.writers[$0].withoutChain).inserted }
        writersOfID = Dictionary(grouping: writers) { log.writers[$0].id }
        for writer in log.writers {
            let label = ComparedRun.hash("thread", threads.groups[writer] ?? "")
            run.names.append(.init(label: label, isShared: threads.isUnordered(writer)))
        }
        for (number, writer) in log.writers.enumerated() { run.names[number].owner = process(of: writer) }
        var lanes: [Int32: Int32] = [:]
        for (number, message) in log.messages.enumerated() {
            let writer = log.writers[message.writer]
            let chain = threads.usesChains ? writer.chain.map { name("chain", $0) } : nil
            let owner = chain ?? Int32(message.writer)
            // Without --unit, each line of a pool is a run of its own.
            let isRun = run.names[Int(owner)].isShared
            if isRun && (message.beginsUnit || log.unit == nil) || lanes[owner] == nil {
                lanes[owner] = Int32(run.lanes.count)
                run.lanes.append(
                    .init(
                        key: .init(
                            label: ComparedRun.hash(threads.groups[writer] ?? "", isRun), names: isRun ? [] : [owner]),
                        process: process(of: writer),
                        mayBeReused: !isRun && chain == nil && writer.id != nil && writer.id != writer.process))
            }
            let lane = lanes[owner] ?? 0
            run.lanes[Int(lane)].lines.append(Int32(number))
            addLine(message, lane)
        }
    }

    private mutating func addLine(_ message: TextLog.Message, _ lane: Int32) {
        let text = LogText(message.text, ids: threads.ids, process: log.writers[message.writer].process)
        let start = run.tokens.count
        for token in text.tokens { run.tokens.append(self.token(token, message.writer)) }
        run.lines.append(
            .init(
                skeleton: ComparedRun.hash(text.skeleton),
                shape: ComparedRun.hash(message.text.filter { !$0.isNumber }),
                tokens: start..<run.tokens.count, lane: lane))
    }

    private mutating func name(_ kind: String, _ text: String) -> Int32 {
        if let name = known["\(kind) \(text)"] { return name }
        known["\(kind) \(text)"] = Int32(run.names.count)
        run.names.append(.init(label: ComparedRun.hash(kind)))
        return Int32(run.names.count - 1)
    }

    private mutating func process(of writer: TextLog.Writer) -> Int32 {
        writer.process.map { name("process", LogText.id($0)) } ?? -1
    }

    /// The threads with an id, those of the same process first, and the process.
    private func names(ofID id: String, _ writer: Int) -> [Int32] {
        let found = writersOfID[id] ?? []
        let own = found.filter { log.writers[$0].process == log.writers[writer].process }
        return (own.isEmpty ? found : own).map(Int32.init) + [known["process \(id)"]].compactMap(\.self)
    }

    private func token(_ token: LogText.Token, _ writer: Int) -> ComparedRun.Token {
        switch token {
        case .id(let id): return .id(ComparedRun.hash(id), names(ofID: id, writer))
        case .thread(let thread, let isMain):
            let name = thread.name ?? (isMain ? "main" : "")
            let group = LogThreads.stem(name).flatMap { threads.isUnordered($0) ? $0 : nil } ?? name
            let label = ComparedRun.hash(group, isMain)
            // The threads of a pool stand for one another.
            let isEnough = isMain || !thread.isKernelID || threads.isUnordered(group)
            return .thread(label, isEnough ? [] : names(ofID: "\(thread.number)", writer))
        }
    }
}
