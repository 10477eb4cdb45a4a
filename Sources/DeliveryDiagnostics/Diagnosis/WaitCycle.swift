internal import DeliveryRecording
internal import ThreadedNotifications

/// Finds waits that could deadlock (guarantee 13): waits that were refused, and threads that wait for each other at
/// different times of the run.
enum WaitCycle {
    /// The number of threads from which a cycle is searched.
    private static let maximumSearched = 1000
    /// The number of waits of a cycle that are shown.
    private static let maximumReported = 8

    static func findings(_ index: RecordingIndex) -> [Finding] {
        let recording = index.recording
        let words = RecordWords(index)
        /// By the source location of the call, or by the message if the location is unknown.
        var refused: [Int64: (count: Int, first: Int32)] = [:]
        /// For each pair of threads: the first wait of one for the other.
        var waits: [UInt64: Int32] = [:]
        var targets = WaitTargets(recording)
        for (number, entry) in recording.entries.enumerated() {
            switch entry.stage {
            case .refuseWait:
                let key = entry.place >= 0 ? Int64(entry.place) : -1 - Int64(entry.message)
                refused[key, default: (0, Int32(number))].count += 1
            case .wait:
                for target in targets.of(entry) where target != entry.thread {
                    let key = UInt64(UInt32(bitPattern: entry.thread)) << 32 | UInt64(UInt32(bitPattern: target))
                    if waits[key] == nil { waits[key] = Int32(number) }
                }
            default: break
            }
        }
        return refused.values.map { found in
            let message = recording.message(of: index.entry(found.first)) ?? ""
            let cycle = message.split(separator: ";").prefix(maximumReported).map { wait in
                Excerpt.of(String(wait.drop { $0 == " " }))
            }
            return Finding(
                kind: .refusedWait, severity: .problem,
                problem:
                    "A wait was refused \(words.times(found.count)) because it would have deadlocked.",
                evidence: [found.first], details: cycle,
                remedy:
                    "Do not wait in a handler for a thread that may wait for this one: post without waiting, and "
                    + "continue in the handler of the reply.",
                weight: found.count)
        } + bothWays(waits, words)
    }

    /// For each thread in a cycle, a shortest cycle through it. Each thread is reported in one cycle only.
    private static func bothWays(_ waits: [UInt64: Int32], _ words: RecordWords) -> [Finding] {
        var next: [Int32: [Int32]] = [:]
        for key in waits.keys.sorted() {
            next[Int32(truncatingIfNeeded: key >> 32), default: []].append(Int32(truncatingIfNeeded: key))
        }
        withoutDeadEnds(&next)
        var reported: Set<Int32> = []
        var findings: [Finding] = []
        for start in next.keys.sorted().prefix(maximumSearched) where !reported.contains(start) {
            guard let cycle = shortestCycle(from: start, next) else { continue }
            reported.formUnion(cycle)
            let edges = zip(cycle, cycle.dropFirst() + [start])
            let evidence = edges.compactMap { from, to in
                waits[UInt64(UInt32(bitPattern: from)) << 32 | UInt64(UInt32(bitPattern: to))]
            }
            let way = (cycle + [start]).map { words.thread($0) }.joined(separator: " for ")
            findings.append(
                Finding(
                    kind: .waitsBothWays, severity: .note,
                    problem: "Threads wait for each other, although not at the same time in this run: \(way).",
                    evidence: evidence,
                    remedy:
                        "If the waits happen at the same time, one is refused with waitWouldDeadlock. Let one of the "
                        + "threads post without waiting.",
                    weight: cycle.count))
        }
        return findings
    }

    /// Removes threads that do not lead to a cycle.
    private static func withoutDeadEnds(_ next: inout [Int32: [Int32]]) {
        var waiters: [Int32: [Int32]] = [:]
        var open = next.mapValues(\.count)
        for (thread, targets) in next {
            for target in targets { waiters[target, default: []].append(thread) }
        }
        var ended = waiters.keys.filter { next[$0] == nil }
        while let thread = ended.popLast() {
            next[thread] = nil
            for waiter in waiters[thread] ?? [] {
                open[waiter, default: 1] -= 1
                if open[waiter] == 0 { ended.append(waiter) }
            }
        }
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

/// The threads that a wait is for: the target, or the threads that the message names.
private struct WaitTargets {
    private let recording: Recording
    private var threads: [Recording.Numbered: Int32] = [:]
    /// By process and message, because waits for the same threads are frequent.
    private var known: [UInt64: [Int32]] = [:]

    init(_ recording: Recording) {
        self.recording = recording
        for (number, thread) in recording.threads.enumerated() {
            threads[Recording.Numbered(process: thread.process, number: thread.identity.number)] = Int32(number)
        }
    }

    mutating func of(_ entry: Recording.Entry) -> [Int32] {
        if entry.target >= 0 { return [entry.target] }
        guard let message = recording.message(of: entry) else { return [] }
        let process = recording.threads[Int(entry.thread)].process
        let key = UInt64(UInt32(bitPattern: process)) << 32 | UInt64(UInt32(bitPattern: entry.message))
        if let targets = known[key] { return targets }
        let targets = MessagePart.parts(of: message).compactMap { part -> Int32? in
            guard case .thread(let thread) = part, !thread.isKernelID else { return nil }
            return threads[Recording.Numbered(process: process, number: thread.number)]
        }
        known[key] = targets
        return targets
    }
}
