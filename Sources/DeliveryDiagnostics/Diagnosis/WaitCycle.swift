internal import DeliveryRecording

/// Finds waits that could deadlock (guarantee 13): waits that were refused, and threads that wait for each other at
/// different times of the run.
enum WaitCycle {
    private static let maximumReported = 8

    static func findings(_ words: RecordWords) -> [Finding] {
        let index = words.index
        var refused: [Int64: (count: Int, first: Int32)] = [:]
        /// For each thread: the threads that it waits for, with the first wait.
        var waits: [Int32: [Int32: Int32]] = [:]
        let targets = WaitTargets(index.recording)
        for (number, entry) in index.recording.entries.enumerated() {
            if entry.stage == .refuseWait {
                refused[WaitTargets.location(entry), default: (0, Int32(number))].count += 1
            } else if entry.stage == .wait {
                for target in targets.of(entry) where target != entry.thread {
                    if waits[entry.thread]?[target] == nil { waits[entry.thread, default: [:]][target] = Int32(number) }
                }
            }
        }
        return refused.values.map { found in
            let message = index.recording.message(of: index.entry(found.first)) ?? ""
            let cycle = RecordWords.withThreadNames(message).split(separator: ";").prefix(maximumReported)
            return Finding(
                kind: .refusedWait, severity: .problem,
                problem: "A wait was refused \(words.times(found.count)) because it would have deadlocked.",
                evidence: [found.first], details: cycle.map { Excerpt.of(String($0.drop { $0 == " " })) },
                remedy:
                    "Do not wait in a handler for a thread that may wait for this one: post without waiting, and "
                    + "continue in the handler of the reply.",
                weight: found.count)
        }
            + cycles(waits).map { cycle in
                let evidence = zip(cycle, cycle.dropFirst() + cycle.prefix(1)).compactMap { waits[$0]?[$1] }
                let way = (cycle + cycle.prefix(1)).map { words.thread($0) }.joined(separator: " for ")
                return Finding(
                    kind: .waitsBothWays, severity: .note,
                    problem: "Threads wait for each other, although not at the same time in this run: \(way).",
                    evidence: evidence,
                    remedy:
                        "If the waits happen at the same time, one is refused with waitWouldDeadlock. Let one of the "
                        + "threads post without waiting.",
                    weight: cycle.count)
            }
    }

    /// Each start may visit all other threads.
    private static let maximumStarts = 1000

    /// Cycles of threads, each thread in one cycle only: the shortest way back to a thread through threads that are in
    /// no other cycle.
    private static func cycles(_ waits: [Int32: [Int32: Int32]]) -> [[Int32]] {
        var cycles: [[Int32]] = []
        var reported: Set<Int32> = []
        for start in waits.keys.sorted().prefix(maximumStarts) where !reported.contains(start) {
            var before: [Int32: Int32] = [:]
            var reached = [start]
            var next = 0
            while next < reached.count, before[start] == nil {
                for target in waits[reached[next], default: [:]].keys.sorted()
                where before[target] == nil && !reported.contains(target) {
                    before[target] = reached[next]
                    reached.append(target)
                }
                next += 1
            }
            guard var thread = before[start] else { continue }
            var cycle = [thread]
            while thread != start {
                thread = before[thread] ?? start
                cycle.append(thread)
            }
            reported.formUnion(cycle)
            cycles.append(cycle.reversed())
        }
        return cycles
    }
}
