internal import DeliveryRecording
internal import TerminalText

extension Detector {
    private static let maximumReported = 8

    /// Finds waits that were refused because they would have deadlocked (guarantee 13).
    static let refusedWait = Detector("refusedWait", "a wait was refused because it would have deadlocked") {
        evidence in
        let (index, recording) = (evidence.index, evidence.index.recording)
        var refused: [Int64: (count: Int, first: Int32)] = [:]
        for number in index.records(of: .refuseWait) {
            refused[WaitTargets.location(index.entry(number)), default: (0, number)].count += 1
        }
        return refused.values.map { found in
            let message = recording.message(of: index.entry(found.first)) ?? ""
            let cycle = RecordWords.withThreadNames(message).split(separator: ";").prefix(maximumReported)
            return Finding(
                problem: "A wait was refused \(evidence.words.times(found.count)) because it would have deadlocked.",
                evidence: [found.first], details: cycle.map { Excerpt.of(String($0.drop { $0 == " " })) },
                remedy: "Do not wait in a handler for a thread that may wait for this one: post without waiting, and "
                    + "continue in the handler of the reply.", weight: found.count)
        }
    }
}
