/// Which threads, processes and messages of two logs correspond to each other.
struct LogCorrespondence {
    let logs: Pair<TextLog>
    let identities: LogIdentities
    let isExact: Bool
    /// For each message: a number for its text without ids, the same in both logs for the same text.
    let skeletons: Pair<[Int]>
    let tokens: Pair<[[LogText.Token]]>
    let writersOfID: Pair<[String: [Int]]>
    private let processes: Pair<Set<String>>
    private var renaming = LogRenaming()

    init(_ logs: Pair<TextLog>, _ identities: LogIdentities, isExact: Bool) {
        (self.logs, self.identities, self.isExact) = (logs, identities, isExact)
        processes = logs.map { Set($0.writers.compactMap(\.process).map(LogText.id)) }
        writersOfID = logs.map { log in
            Dictionary(grouping: log.writers.indices.filter { log.writers[$0].id != nil }) { log.writers[$0].id ?? "" }
        }
        let ids = processes.first.union(processes.second).union(writersOfID.first.keys).union(writersOfID.second.keys)
        var numbers: [String: Int] = [:]
        var (skeletons, tokens) = (Pair<[Int]>([], []), Pair<[[LogText.Token]]>([], []))
        for side in RunSide.allCases {
            for message in logs[side].messages {
                let process = logs[side].writers[message.writer].process
                let text = LogText(message.text, ids: ids, process: process, group: identities.group(ofName:))
                let number = numbers[text.skeleton] ?? numbers.count
                numbers[text.skeleton] = number
                skeletons[side].append(number)
                tokens[side].append(text.tokens)
            }
        }
        (self.skeletons, self.tokens) = (skeletons, tokens)
    }

    /// The number of matches so far, to undo later ones.
    var mark: Int { renaming.count }

    mutating func undo(to mark: Int) { renaming.undo(to: mark) }

    // MARK: Messages

    /// True if the messages are the same, with their threads renamed.
    mutating func match(_ first: Int, _ second: Int) -> Bool {
        guard skeletons.first[first] == skeletons.second[second] else { return false }
        let mark = renaming.count
        let writers = Pair(logs.first.messages[first].writer, logs.second.messages[second].writer)
        let areSame =
            (!isExact || matchWriters(writers))
            && zip(tokens.first[first], tokens.second[second]).allSatisfy { match($0, $1, writers) }
        if !areSame { renaming.undo(to: mark) }
        return areSame
    }

    private mutating func matchWriters(_ writers: Pair<Int>) -> Bool {
        guard identities.groups.first[writers.first] == identities.groups.second[writers.second],
            matchProcesses(writers)
        else { return false }
        if identities.isUnordered.first[writers.first] { return identities.isUnordered.second[writers.second] }
        return renaming.match(.thread(writers.first), .thread(writers.second))
    }

    private mutating func matchProcesses(_ writers: Pair<Int>) -> Bool {
        guard let first = process(writers, .first), let second = process(writers, .second) else { return true }
        return renaming.match(.process(first), .process(second))
    }

    private func process(_ writers: Pair<Int>, _ side: RunSide) -> String? {
        logs[side].writers[writers[side]].process.map(LogText.id)
    }

    private mutating func match(_ first: LogText.Token, _ second: LogText.Token, _ writers: Pair<Int>) -> Bool {
        switch (first, second) {
        case (.id(let first), .id(let second)):
            return first == second || matchIDs(first, second, writers)
        case (.thread(let first, let group, let isMain), .thread(let second, let otherGroup, let isOtherMain)):
            guard isMain == isOtherMain, group == otherGroup else { return false }
            // The threads of a pool stand for one another.
            if isMain || identities.unordered.contains(group ?? "") { return true }
            let ids = ("\(first.number)", "\(second.number)")
            if first.isKernelID, second.isKernelID,
                writersOfID.first[ids.0] != nil || writersOfID.second[ids.1] != nil
            {
                return matchIDs(ids.0, ids.1, writers)
            }
            return renaming.match(
                .number(process(writers, .first) ?? "", first.number),
                .number(process(writers, .second) ?? "", second.number))
        default: return false
        }
    }

    private mutating func matchIDs(_ first: String, _ second: String, _ writers: Pair<Int>) -> Bool {
        for one in threads(first, writers, .first) {
            for other in threads(second, writers, .second) where matchWriters(Pair(one, other)) { return true }
        }
        return processes.first.contains(first) && processes.second.contains(second)
            && renaming.match(.process(first), .process(second))
    }

    /// The threads with an id, those of the same process first.
    private func threads(_ id: String, _ writers: Pair<Int>, _ side: RunSide) -> [Int] {
        let found = writersOfID[side][id] ?? []
        let own = found.filter { logs[side].writers[$0].process == logs[side].writers[writers[side]].process }
        return own.isEmpty ? found : own
    }

    /// True if the messages differ in their threads: only in the order of the files.
    func isMoved(_ first: Int, _ second: Int) -> Bool {
        let writers = (logs.first.messages[first].writer, logs.second.messages[second].writer)
        return isExact && skeletons.first[first] == skeletons.second[second]
            && !renaming.mayMatch(.thread(writers.0), .thread(writers.1))
    }

    // MARK: Lanes

    /// True if the lanes have the same messages.
    mutating func match(_ first: LogLane, _ second: LogLane) -> Bool {
        let mark = renaming.count
        let areSame =
            first.messages.count == second.messages.count && matchNames(first, second)
            && zip(first.messages, second.messages).allSatisfy { match($0, $1) }
        if !areSame { renaming.undo(to: mark) }
        return areSame
    }

    mutating func matchNames(_ first: LogLane, _ second: LogLane) -> Bool {
        let writers = Pair(
            logs.first.messages[first.messages[0]].writer, logs.second.messages[second.messages[0]].writer)
        guard first.group == second.group, matchProcesses(writers) else { return false }
        guard let name = first.name, let other = second.name else { return first.name == nil && second.name == nil }
        return renaming.match(name, other)
    }
}
