/// A promise of notification queues, with a trial that shows whether a queue keeps it.
///
/// A trial produces a list of events. The promise is kept if they are the expected ones, so the verdict is a function
/// of the events.
struct QueuePromise: Sendable {
    /// The name that processes and tests use.
    var name: String
    /// The promise in words.
    var claim: String
    /// The document's sentence, if there is one.
    var sentence: String?
    /// The number of the fact that says how Foundation breaks the promise, or nil.
    var fact: String?
    /// The events of a queue that keeps the promise.
    var expected: [String]
    /// True if the order of the events is promised.
    var isOrdered: Bool
    /// The trial; runs on the main thread of a process of its own.
    var body: @MainActor @Sendable (QueueTrial) throws -> Void

    init(
        _ name: String, _ claim: String, sentence: String? = nil, fact: String? = nil, expected: [String],
        isOrdered: Bool = true, body: @escaping @MainActor @Sendable (QueueTrial) throws -> Void
    ) {
        self.name = name
        self.claim = claim
        self.sentence = sentence
        self.fact = fact
        self.expected = expected
        self.isOrdered = isOrdered
        self.body = body
    }

    /// The verdict on the events of a trial.
    func verdict(on observation: TrialObservation) -> TrialVerdict {
        TrialExpectation(events: expected, isOrdered: isOrdered).verdict(on: observation)
    }

    static let all = posting + order + coalescing + handlers + modes + threads

    static func named(_ name: String) -> QueuePromise? {
        all.first { $0.name == name }
    }
}

extension TrialQuestion {
    /// A queue promise as a question to both sides.
    init(_ promise: QueuePromise) {
        self.init(
            promise.name, promise.claim, sentence: promise.sentence,
            expected: TrialExpectation(events: promise.expected, isOrdered: promise.isOrdered),
            foundation: { try QueueTrial.perform(promise, QueueKind.foundation, notes: $0) },
            ours: .body { try QueueTrial.perform(promise, QueueKind.postingQueue, notes: $0) })
    }
}
