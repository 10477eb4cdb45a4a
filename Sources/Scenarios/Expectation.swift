internal import DeliveryDiagnostics
internal import DeliveryRecording

/// A claim about records, with the reason if it does not hold.
package struct Expectation: Sendable, Hashable {
    package var claim: String
    /// Nil if the claim holds, otherwise what is true instead.
    package var failure: String?

    package var holds: Bool { failure == nil }

    package init(_ claim: String, failure: String?) {
        self.claim = claim
        self.failure = failure
    }

    /// - Parameter otherwise: what is true instead; evaluated only if the claim does not hold.
    init(_ claim: String, holds: Bool, otherwise: @autoclosure () -> String) {
        self.init(claim, failure: holds ? nil : otherwise())
    }

    static func equal<Value: Equatable>(_ claim: String, _ actual: Value, _ expected: Value) -> Expectation {
        Expectation(claim, holds: actual == expected, otherwise: "\(actual) instead of \(expected)")
    }

    /// Expects that there are items, and that each is correct.
    static func each<Item>(
        _ claim: String, _ items: some Sequence<Item>, _ isCorrect: (Item) -> Bool, otherwise: (Item) -> String
    ) -> Expectation {
        var isEmpty = true
        for item in items {
            guard isCorrect(item) else { return Expectation(claim, failure: otherwise(item)) }
            isEmpty = false
        }
        return Expectation(claim, failure: isEmpty ? "there is none" : nil)
    }

    /// Expects that the logged lines have the structure of a document's log.
    static func matches(
        _ reference: ReferenceLog, _ records: [RecordedRun.Record], prefix: String = ""
    ) -> Expectation {
        let claim = "\(prefix)the log has the structure of \(reference.rawValue)"
        let style = DocumentStyle()
        let text = records.compactMap { style.line(for: $0.entry, of: $0.run.recording) }.map { $0 + "\n" }.joined()
        do {
            let log = try TextLog(name: "the run", text: text)
            let comparison = try RunComparison(try TextLog(reference), log)
            if comparison.isSameInOrder { return Expectation(claim, failure: nil) }
            return Expectation(claim, failure: comparison.description)
        } catch {
            return Expectation(claim, failure: "\(error)")
        }
    }
}
