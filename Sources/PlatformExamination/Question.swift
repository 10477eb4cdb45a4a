/// A claim about notifications, run loops or threads that Foundation and this package are asked to keep.
///
/// Each side is asked in a process of its own, because some answers are crashes. An answer is a list of events. The
/// claim is kept if they are the expected ones, so the answer is a function of the events and the end of the process.
package struct Question: Sendable {
    package enum Side: String, Sendable, CaseIterable {
        /// This platform's Foundation.
        case foundation
        /// This package.
        case ours
    }

    /// Runs on the main thread of a process of its own and notes events.
    typealias Body = @MainActor @Sendable (Trial) throws -> Void

    /// The name that processes and tests use.
    var name: String
    var claim: String
    /// The sentence of Apple's document, if there is one.
    var sentence: String?
    /// The number of the fact about Foundation that the question belongs to, or nil.
    var fact: String?
    /// The events of a side that keeps the promise.
    var expected: [Side: [String]]
    var isOrdered: Bool
    var bodies: [Side: Body]

    /// - Parameters:
    ///   - expectedOfOurs: the events of this package, if it offers another API than Foundation.
    ///   - body: asks Foundation, and this package if `ours` is nil.
    init(
        _ name: String, _ claim: String, sentence: String? = nil, fact: String? = nil, expected: [String],
        ofOurs expectedOfOurs: [String]? = nil, isOrdered: Bool = true, _ body: @escaping Body, ours: Body? = nil
    ) {
        self.name = name
        self.claim = claim
        self.sentence = sentence
        self.fact = fact
        self.expected = [.foundation: expected, .ours: expectedOfOurs ?? expected]
        self.isOrdered = isOrdered
        bodies = [.foundation: body, .ours: ours ?? body]
    }

    /// - Parameters:
    ///   - events: one line for each event. The text after a tab is a detail, such as a duration, that differs from run
    ///     to run. Details are shown and not compared.
    ///   - ending: how the process ended, or nil for a normal end.
    func answer(of side: Side, events: [String], ending: String? = nil) -> Answer {
        let expected = expected[side] ?? []
        let events = (isOrdered ? events : events.sorted()).map { $0.split(separator: "\t", maxSplits: 1) }
        let words = events.map { String($0.first ?? "") }
        var shown = events.map { $0.count > 1 ? "\($0[0]) (\($0[1]))" : String($0.first ?? "") }
        if let ending { shown.append(shown.isEmpty ? ending : "then \(ending)") }
        return Answer(
            isKept: ending == nil && words == (isOrdered ? expected : expected.sorted()),
            observed: shown.isEmpty ? "nothing" : shown.joined(separator: ", "),
            expected: expected.joined(separator: ", "))
    }

    // MARK: The questions

    static let all = queues + centers + threads + asyncMessages + communication

    /// The promises of notification queues.
    package static let queues = queuePosting + queueCoalescing + queueHandlers + queueModes + queueThreads

    /// Puts the question with this name to a side, on the main thread of this process.
    ///
    /// - Parameter echo: receives the line of each event at once, because the process may crash.
    @MainActor
    package static func ask(_ name: String, _ side: Side, echo: @escaping @Sendable (String) -> Void) throws {
        for question in all where question.name == name { _ = try Trial(side, echo: echo).perform(question) }
    }
}

/// The answer of one side to a question.
package struct Answer: Sendable, Hashable, Encodable {
    var isKept: Bool
    /// The observed events, and the end of the process if it was not normal.
    var observed: String
    /// The events of a side that keeps the claim.
    var expected: String

    private enum CodingKeys: String, CodingKey {
        case isKept = "kept"
        case observed, expected
    }
}
