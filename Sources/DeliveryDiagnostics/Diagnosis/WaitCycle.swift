internal import ThreadedNotifications

/// Waits that nearly closed a cycle (guarantee 13): one that was refused; and threads that wait for one another, though not at
/// the same time in this run.
enum WaitCycle {
    static func findings(_ index: DeliveryIndex) -> [Finding] {
        let recording = index.recording
        let words = DiagnosisWords(index)
        var refused: [Int32: (count: Int, first: Int32)] = [:]
        /// The first wait of each thread for each other.
        var waits: [UInt64: Int32] = [:]
        for (place, entry) in recording.entries.enumerated() {
            switch entry.stage {
            case .refuseWait: refused[entry.message, default: (0, Int32(place))].count += 1
            case .wait:
                for target in targets(of: entry, index) where target != entry.thread {
                    let key = UInt64(UInt32(bitPattern: entry.thread)) << 32 | UInt64(UInt32(bitPattern: target))
                    if waits[key] == nil { waits[key] = Int32(place) }
                }
            default: break
            }
        }
        return refused.map { message, found in
            let cycle = message < 0 ? "" : ": \(Excerpt.of(recording.strings[Int(message)], length: 400))"
            return Finding(
                kind: .refusedWait, severity: .problem,
                problem: "A wait was refused \(words.times(found.count)), because it would never have ended\(cycle).",
                evidence: [found.first],
                remedy:
                    "Do not wait in a handler for a thread that may wait for this one: post without waiting, and go on "
                    + "in the handler of the answer.",
                weight: found.count)
        } + bothWays(waits, words)
    }

    /// The threads that a wait is for: its target, or those that its message names.
    private static func targets(of entry: Recording.Entry, _ index: DeliveryIndex) -> [Int32] {
        if entry.target >= 0 { return [entry.target] }
        let recording = index.recording
        guard let message = recording.message(of: entry), message.contains("{") else { return [] }
        let process = recording.threads[Int(entry.thread)].process
        return MessagePart.parts(of: message).compactMap { part in
            guard case .thread(let thread) = part, !thread.isKernelID else { return nil }
            return recording.threads.firstIndex { $0.process == process && $0.identity.number == thread.number }
                .map { Int32($0) }
        }
    }

    /// A shortest cycle through each thread that is in one; each thread in one cycle only.
    private static func bothWays(_ waits: [UInt64: Int32], _ words: DiagnosisWords) -> [Finding] {
        var next: [Int32: [Int32]] = [:]
        for key in waits.keys.sorted() {
            next[Int32(truncatingIfNeeded: key >> 32), default: []].append(Int32(truncatingIfNeeded: key))
        }
        var told: Set<Int32> = []
        var findings: [Finding] = []
        for start in next.keys.sorted() where !told.contains(start) {
            guard let cycle = shortestCycle(from: start, next) else { continue }
            told.formUnion(cycle)
            let edges = zip(cycle, cycle.dropFirst() + [start])
            let evidence = edges.compactMap { from, to in
                waits[UInt64(UInt32(bitPattern: from)) << 32 | UInt64(UInt32(bitPattern: to))]
            }
            let way = (cycle + [start]).map { words.thread($0) }.joined(separator: " for ")
            findings.append(
                Finding(
                    kind: .waitsBothWays, severity: .note,
                    problem: "Threads wait for one another, though not at once in this run: \(way).",
                    evidence: evidence,
                    remedy:
                        "If both waits can meet, one is refused with waitWouldDeadlock. Let one of them post without "
                        + "waiting.",
                    weight: cycle.count))
        }
        return findings
    }

    private static func shortestCycle(from start: Int32, _ next: [Int32: [Int32]]) -> [Int32]? {
        var before: [Int32: Int32] = [:]
        var queue = [start]
        var head = 0
        while head < queue.count {
            let thread = queue[head]
            head += 1
            for target in next[thread] ?? [] {
                if target == start {
                    var cycle = [thread]
                    while let last = cycle.last, last != start, let previous = before[last] { cycle.append(previous) }
                    return cycle.reversed()
                }
                guard before[target] == nil else { continue }
                before[target] = thread
                queue.append(target)
            }
        }
        return nil
    }
}
