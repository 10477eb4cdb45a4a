/// Makes lanes of two text logs: of a thread, of a request or task, or of one run of work of a pool.
struct ComparedLogs {
    private(set) var runs = Pair(ComparedRun(isText: true), ComparedRun(isText: true))
    let logs: Pair<TextLog>
    let usesNames: Bool
    private let usesChains: Bool
    /// The pools and the names without ids, in the order in which they are found. Their lanes have no order.
    private(set) var unordered: [String] = []
    /// For each writer: the name of the thread without a number at its end, or its pool. Empty for threads without
    /// names and for chains.
    private(set) var groups = Pair<[String]>([], [])

    /// Names of threads of which a process has one, by its runtime: Java's and Python's.
    private static let uniqueNames: Set<String> = ["main", "MainThread"]

    /// - Parameter pools: regular expressions for names, or ids, of threads that stand for one another.
    init(_ logs: Pair<TextLog>, pools: [String]) throws(LogPattern.Refusal) {
        self.logs = logs
        let writers = [logs.first.writers, logs.second.writers]
        usesChains = writers.allSatisfy { $0.contains { $0.chain != nil } }
        usesNames = writers.allSatisfy { $0.contains { $0.name != nil } }
        let pools = try LogPattern.all(pools, option: "--pool")
        // A number in a name makes no pool if each log has one such thread.
        let numbered = writers.flatMap { writers in
            Dictionary(grouping: writers.compactMap { $0.name.flatMap(Self.stem) }) { $0 }.filter { $1.count > 1 }.keys
        }
        for side in RunSide.allCases {
            for writer in logs[side].writers { try add(writer, side, pools, Set(numbered)) }
        }
        let ids = writers.joined().flatMap { [$0.id, $0.process.map(LogText.id)].compactMap(\.self) }
        for side in RunSide.allCases { addLines(side, Set(ids)) }
    }

    /// True if the lines of a writer have no order.
    func isUnordered(_ writer: Int, _ side: RunSide) -> Bool { runs[side].names[writer].isShared }

    // MARK: Threads

    private mutating func add(
        _ writer: TextLog.Writer, _ side: RunSide, _ pools: [LogPattern], _ numbered: Set<String>
    ) throws(LogPattern.Refusal) {
        let isOfChain = usesChains && writer.chain != nil
        let name = usesNames && !isOfChain ? writer.name : nil
        let stem = name.flatMap(Self.stem)
        var pool = isOfChain ? nil : try LogPattern.first(of: pools, in: name ?? writer.id)
        if pool == nil, let name {
            let isAmbiguous = writer.id == nil && !Self.uniqueNames.contains(name)
            pool = stem.flatMap { numbered.contains($0) ? $0 : nil } ?? (isAmbiguous ? stem ?? name : nil)
        }
        if let pool, !unordered.contains(pool) { unordered.append(pool) }
        let group = pool ?? stem ?? name ?? ""
        groups[side].append(group)
        runs[side].names.append(.init(label: ComparedRun.hash("thread", group), isShared: pool != nil))
    }

    /// The name with a mark for the number at its end, before a function in parentheses as Python adds it; nil if there
    /// is none.
    static func stem(_ name: String) -> String? {
        let end = name.hasSuffix(")") ? name.lastIndex(of: "(") ?? name.endIndex : name.endIndex
        var stem = name[..<end]
        if end < name.endIndex, stem.last == " " { stem.removeLast() }
        let rest = name[stem.endIndex...]
        guard stem.last?.isNumber == true else { return nil }
        while stem.last?.isNumber == true { stem.removeLast() }
        return stem + "…" + rest
    }

    // MARK: Lines

    private mutating func addLines(_ side: RunSide, _ ids: Set<String>) {
        var (log, run, lanes) = (logs[side], runs[side], [Int32: Int32]())
        var known: [String: Int32] = [:]
        func name(_ kind: String, _ text: String, _ label: String) -> Int32 {
            if let name = known["\(kind) \(text)"] { return name }
            known["\(kind) \(text)"] = Int32(run.names.count)
            run.names.append(.init(label: ComparedRun.hash(label)))
            return Int32(run.names.count - 1)
        }
        let processes = log.writers.map { $0.process.map { name("process", LogText.id($0), "process") } ?? -1 }
        for (writer, process) in processes.enumerated() { run.names[writer].owner = process }
        let withID = Dictionary(grouping: log.writers.indices) { log.writers[$0].id }
        /// The threads with an id, those of the same process first, and the process.
        func named(_ id: String, _ writer: Int) -> [Int32] {
            let found = withID[id] ?? []
            let own = found.filter { processes[$0] == processes[writer] }
            return (own.isEmpty ? found : own).map(Int32.init) + [known["process \(id)"]].compactMap(\.self)
        }
        func token(_ token: LogText.Token, _ writer: Int) -> ComparedRun.Token {
            switch token {
            case .id(let id): return .id(ComparedRun.hash(id), named(id, writer))
            case .thread(let thread, let isMain):
                var group = thread.name ?? (isMain ? "main" : "")
                if let stem = Self.stem(group), unordered.contains(stem) { group = stem }
                // The threads of a pool stand for one another.
                let isEnough = isMain || unordered.contains(group)
                let id = "\(thread.number)"
                let isNamed = !isEnough && thread.isKernelID && withID[id] != nil
                return .thread(
                    ComparedRun.hash(group, isMain), isNamed ? named(id, writer) : [],
                    number: isEnough ? -1 : name("number of \(log.writers[writer].process ?? "")", id, "number"),
                    isKernelID: thread.isKernelID)
            }
        }
        for (number, message) in log.messages.enumerated() {
            let writer = log.writers[message.writer]
            let text = LogText(message.text, ids: ids, process: writer.process)
            let start = run.tokens.count
            run.tokens += text.tokens.map { token($0, message.writer) }
            let chain = usesChains ? writer.chain.map { name("chain", $0, "chain") } : nil
            let owner = chain ?? Int32(message.writer)
            // Without --unit, each line of a pool is a run of its own.
            let isRun = run.names[Int(owner)].isShared
            if isRun && (message.beginsUnit || log.unit == nil) || lanes[owner] == nil {
                lanes[owner] = Int32(run.lanes.count)
                let key = ComparedRun.LaneKey(
                    label: ComparedRun.hash(groups[side][message.writer], isRun), names: isRun ? [] : [owner])
                run.lanes.append(
                    .init(
                        key: key, process: processes[message.writer],
                        mayBeReused: !isRun && chain == nil && writer.id != nil && writer.id != writer.process))
            }
            let lane = lanes[owner] ?? 0
            run.lanes[Int(lane)].lines.append(Int32(number))
            run.lines.append(
                .init(
                    skeleton: ComparedRun.hash(text.skeleton),
                    shape: ComparedRun.hash(message.text.filter { !$0.isNumber }),
                    tokens: start..<run.tokens.count, lane: lane))
        }
        runs[side] = run
    }
}
