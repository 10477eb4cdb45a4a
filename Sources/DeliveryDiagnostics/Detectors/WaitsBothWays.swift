internal import DeliveryRecording

extension Detector {
    /// Each start may visit all other threads.
    private static let maximumStarts = 1000

    /// Finds threads that wait for each other at different times of the run: the waits could deadlock (guarantee 13).
    static let waitsBothWays = Detector(
        "waitsBothWays", "threads wait for each other, although not at the same time in this run"
    ) { evidence in
        /// For each thread: the threads that it waits for, with the first wait.
        var waits: [Int32: [Int32: Int32]] = [:]
        for number in evidence.index.records(of: .wait) {
            let entry = evidence.index.entry(number)
            for target in evidence.targets(of: entry)
            where target != entry.thread && waits[entry.thread]?[target] == nil {
                waits[entry.thread, default: [:]][target] = number
            }
        }
        return cycles(waits).map { cycle in
            let way = (cycle + cycle.prefix(1)).map { evidence.words.thread($0) }.joined(separator: " for ")
            return Finding(
                severity: .note,
                problem: "Threads wait for each other, although not at the same time in this run: \(way).",
                evidence: zip(cycle, cycle.dropFirst() + cycle.prefix(1)).compactMap { waits[$0]?[$1] },
                remedy: "If the waits happen at the same time, one is refused with waitWouldDeadlock. Let one of the "
                    + "threads post without waiting.", weight: cycle.count)
        }
    }

    /// Cycles of threads, each thread in one cycle only: the shortest way back to a thread through threads that are in
    /// no other cycle.
    private static func cycles(_ waits: [Int32: [Int32: Int32]]) -> [[Int32]] {
        var (cycles, reported): ([[Int32]], Set<Int32>) = ([], [])
        for start in waits.keys.sorted().prefix(maximumStarts) where !reported.contains(start) {
            var (before, reached, next): ([Int32: Int32], [Int32], Int) = ([:], [start], 0)
            while next < reached.count, before[start] == nil {
                for target in waits[reached[next], default: [:]].keys.sorted()
                where before[target] == nil && !reported.contains(target) {
                    before[target] = reached[next]
                    reached.append(target)
                }
                next += 1
            }
            guard let last = before[start] else { continue }
            let cycle = sequence(first: last) { $0 == start ? nil : before[$0] }.reversed()
            reported.formUnion(cycle)
            cycles.append(Array(cycle))
        }
        return cycles
    }
}
