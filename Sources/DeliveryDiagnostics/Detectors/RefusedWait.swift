internal import DeliveryRecording
internal import TerminalText

extension Detector {
    private static let maximumReported = 8

    /// Finds waits that were refused because they would have deadlocked (guarantee 13).
    static let refusedWait = Detector("refusedWait", "a wait was refused because it would have deadlocked") {
        evidence in
        evidence.index.records(of: .refuseWait).grouped(by: evidence.place).map { waits in
            let message = evidence.recording.message(of: evidence.index.entry(waits[0])) ?? ""
            let cycle = RecordWords.withThreadNames(message).split(separator: ";").prefix(maximumReported)
            return Finding(
                problem: "A wait was refused \(evidence.words.times(waits.count)) because it would have deadlocked.",
                evidence: [waits[0]], details: cycle.map { Excerpt.of(String($0.drop { $0 == " " })) },
                remedy: "Do not wait in a handler for a thread that may wait for this one: post without waiting, and "
                    + "continue in the handler of the reply.", weight: waits.count)
        }
    }
}
