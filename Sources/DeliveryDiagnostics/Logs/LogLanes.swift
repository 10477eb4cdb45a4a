/// Lines of a log in an order that another run keeps: those of a thread, of a request or task, or one run of work of a
/// pool.
struct LogLane {
    /// Only lanes of the same group correspond to each other: the name of their thread, or their pool. Empty for threads
    /// without names and for chains.
    var group: String
    /// The thread or chain that is renamed; nil for a run of a group without order.
    var name: LogRenaming.Name?
    /// Indices of messages.
    var messages: [Int] = []
}

/// The identities of the threads of two logs.
struct LogIdentities {
    private let usesChains: Bool
    let usesNames: Bool
    /// The pools and the names without ids, in the order in which they are found. Their lanes have no order.
    private(set) var unordered: [String] = []
    /// For each writer of each log.
    private(set) var groups = Pair<[String]>([], [])
    private(set) var isUnordered = Pair<[Bool]>([], [])

    /// Names of threads of which a process has one, by its runtime: Java's and Python's.
    private static let uniqueNames: Set<String> = ["main", "MainThread"]

    /// - Parameter pools: regular expressions for names, or ids, of threads that stand for one another.
    init(_ logs: Pair<TextLog>, pools: [String]) throws(LogPattern.Refusal) {
        func both(_ part: KeyPath<TextLog.Writer, String?>) -> Bool {
            RunSide.allCases.allSatisfy { logs[$0].writers.contains { $0[keyPath: part] != nil } }
        }
        (usesChains, usesNames) = (both(\.chain), both(\.name))
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
                let name = usesNames ? writer.name : nil
                var group: String?
                if !usesChains || writer.chain == nil {
                    if let label = name ?? writer.id {
                        for (source, pattern) in patterns where group == nil {
                            if try pattern.isFound(in: label) { group = source }
                        }
                    }
                    group = group ?? name.flatMap(Self.stem).flatMap { numbered.contains($0) ? $0 : nil }
                    if group == nil, let name, writer.id == nil, !Self.uniqueNames.contains(name) {
                        group = Self.stem(name) ?? name
                    }
                }
                if let group, !unordered.contains(group) { unordered.append(group) }
                isUnordered[side].append(group != nil)
                let own = usesChains && writer.chain != nil ? nil : name
                groups[side].append(group ?? own.flatMap(Self.stem) ?? own ?? "")
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
    func group(ofName name: String?) -> String? {
        guard let stem = name.flatMap(Self.stem), unordered.contains(stem) else { return name }
        return stem
    }

    /// The lanes of a log, in the order of their first messages.
    func lanes(of log: TextLog, _ side: RunSide) -> [LogLane] {
        var lanes: [LogLane] = []
        var lane: [LogRenaming.Name: Int] = [:]
        for (index, message) in log.messages.enumerated() {
            let writer = log.writers[message.writer]
            let name = usesChains ? writer.chain.map { LogRenaming.Name.chain($0) } : nil
            let key = name ?? .thread(message.writer)
            let isRun = isUnordered[side][message.writer]
            // Without --unit, each line is a run of its own.
            let begins = isRun && (message.beginsUnit || log.unit == nil)
            if let known = lane[key], !begins {
                lanes[known].messages.append(index)
            } else {
                lane[key] = lanes.count
                lanes.append(
                    LogLane(group: groups[side][message.writer], name: isRun ? nil : key, messages: [index]))
            }
        }
        return lanes
    }
}
