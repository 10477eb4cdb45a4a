/// Makes lanes of two text logs: of a thread, of a request or task, or of one run of work of a pool.
struct ComparedLogs {
    private(set) var runs = Pair(ComparedRun(), ComparedRun())
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
    init(_ logs: Pair<TextLog>, pools: [String], isExact: Bool) throws(LogPattern.Refusal) {
        self.logs = logs
        func both(_ part: KeyPath<TextLog.Writer, String?>) -> Bool {
            RunSide.allCases.allSatisfy { logs[$0].writers.contains { $0[keyPath: part] != nil } }
        }
        (usesChains, usesNames) = (both(\.chain), both(\.name))
        try addGroups(pools)
        let ids = Set(
            RunSide.allCases.flatMap { side in
                logs[side].writers.flatMap { [$0.id, $0.process.map(LogText.id)].compactMap(\.self) }
            })
        for side in RunSide.allCases { addLines(side, ids, isExact) }
    }

    /// True for a writer whose lines have no order.
    func isUnordered(_ writer: Int, _ side: RunSide) -> Bool { runs[side].names[writer].isShared }

    // MARK: Threads

    private mutating func addGroups(_ pools: [String]) throws(LogPattern.Refusal) {
        var patterns: [(source: String, pattern: LogPattern)] = []
        for pool in pools { patterns.append((pool, try LogPattern(pool, option: "--pool"))) }
        // A number in a name makes no pool if each log has one such thread.
        var numbered: Set<String> = []
        for side in RunSide.allCases {
            let stems = logs[side].writers.compactMap { $0.name.flatMap(Self.stem) }
            numbered.formUnion(Dictionary(grouping: stems) { $0 }.filter { $0.value.count > 1 }.keys)
        }
        for side in RunSide.allCases {
            for writer in logs[side].writers {
                let isOfChain = usesChains && writer.chain != nil
                let name = usesNames ? writer.name : nil
                var pool: String?
                if !isOfChain, let label = name ?? writer.id {
                    for (source, pattern) in patterns where pool == nil {
                        if try pattern.isFound(in: label) { pool = source }
                    }
                    if pool == nil, let name {
                        let stem = Self.stem(name)
                        let isAmbiguous = writer.id == nil && !Self.uniqueNames.contains(name)
                        pool = stem.flatMap { numbered.contains($0) ? $0 : nil } ?? (isAmbiguous ? stem ?? name : nil)
                    }
                }
                if let pool, !unordered.contains(pool) { unordered.append(pool) }
                let group = pool ?? (isOfChain ? nil : name.flatMap(Self.stem) ?? name) ?? ""
                groups[side].append(group)
                runs[side].names.append(.init(label: ComparedRun.hash("thread", group), isShared: pool != nil))
            }
        }
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

    /// The group of the threads with a name that a message mentions.
    private func group(ofName name: String?) -> String? {
        guard let stem = name.flatMap(Self.stem), unordered.contains(stem) else { return name }
        return stem
    }

    // MARK: Lines

    private mutating func addLines(_ side: RunSide, _ ids: Set<String>, _ isExact: Bool) {
        var (log, run, lanes) = (logs[side], runs[side], [Int32: Int32]())
        run.isText = true
        var known: [String: Int32] = [:]
        func name(_ kind: String, _ text: String) -> Int32 {
            if let name = known["\(kind) \(text)"] { return name }
            known["\(kind) \(text)"] = Int32(run.names.count)
            run.names.append(.init(label: ComparedRun.hash(kind)))
            return Int32(run.names.count - 1)
        }
        let processes = log.writers.map { $0.process.map { name("process", LogText.id($0)) } ?? -1 }
        for (writer, process) in processes.enumerated() { run.names[writer].owner = process }
        let withID = Dictionary(grouping: log.writers.indices.filter { log.writers[$0].id != nil }) {
            log.writers[$0].id ?? ""
        }
        /// The threads with an id, those of the same process first, and the process.
        func named(_ id: String, _ writer: Int) -> [Int32] {
            let found = withID[id] ?? []
            let own = found.filter { processes[$0] == processes[writer] }
            return (own.isEmpty ? found : own).map(Int32.init) + [known["process \(id)"]].compactMap(\.self)
        }
        func token(_ token: LogText.Token, _ writer: Int) -> ComparedRun.Token {
            switch token {
            case .id(let id): return .id(ComparedRun.hash(id), named(id, writer))
            case .thread(let thread, let group, let isMain):
                let label = ComparedRun.hash(group ?? "", isMain)
                // The threads of a pool stand for one another.
                if isMain || unordered.contains(group ?? "") {
                    return .thread(label, [], number: -1, isKernelID: thread.isKernelID)
                }
                let number = name("number of \(log.writers[writer].process ?? "")", "\(thread.number)")
                run.names[Int(number)].label = ComparedRun.hash("number")
                let id = "\(thread.number)"
                let threads = thread.isKernelID && withID[id] != nil ? named(id, writer) : []
                return .thread(label, threads, number: number, isKernelID: thread.isKernelID)
            }
        }
        for (number, message) in log.messages.enumerated() {
            let writer = log.writers[message.writer]
            let text = LogText(message.text, ids: ids, process: writer.process, group: group(ofName:))
            var line = ComparedRun.Line(skeleton: ComparedRun.hash(text.skeleton))
            let start = run.tokens.count
            if isExact { run.tokens.append(.name(Int32(message.writer))) }
            run.tokens += text.tokens.map { token($0, message.writer) }
            line.tokens = start..<run.tokens.count
            let chain = usesChains ? writer.chain.map { name("chain", $0) } : nil
            let owner = isExact ? -1 : chain ?? Int32(message.writer)
            // Without --unit, each line of a pool is a run of its own.
            let isRun = !isExact && run.names[Int(owner)].isShared
            if isRun && (message.beginsUnit || log.unit == nil) || lanes[owner] == nil {
                lanes[owner] = Int32(run.lanes.count)
                let group = isExact ? "" : groups[side][message.writer]
                let id = writer.id
                run.lanes.append(
                    .init(
                        key: .init(label: ComparedRun.hash(group, isRun), names: isRun || isExact ? [] : [owner]),
                        process: isExact ? -1 : processes[message.writer],
                        mayBeReused: !isRun && !isExact && chain == nil && id != nil && id != writer.process))
            }
            line.lane = lanes[owner] ?? 0
            run.lanes[Int(line.lane)].lines.append(Int32(number))
            run.lines.append(line)
            run.shapes.append(ComparedRun.hash(message.text.filter { !$0.isNumber }))
        }
        runs[side] = run
    }
}
