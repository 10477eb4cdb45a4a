/// Something that a notification queue promises, and how to see whether it keeps it.
///
/// What is seen is a list of events; the promise is kept if they are the expected ones. So the verdict is a function of what
/// was seen.
struct QueuePromise: Sendable {
    /// What it is called between processes, and in tests.
    var name: String
    /// The promise.
    var claim: String
    /// The document's sentence, if it has one.
    var sentence: String?
    /// The number of what was known to break it in Foundation, before anybody looked again.
    var fact: String?
    /// What is seen if it is kept.
    var expected: [String]
    /// Whether the order of the events is promised.
    var isOrdered: Bool
    /// Lets it happen, on the main thread of a process of its own.
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

    /// Whether it is kept.
    func verdict(on observation: TrialObservation) -> TrialVerdict {
        TrialExpectation(events: expected, isOrdered: isOrdered).verdict(on: observation)
    }

    static let all = posting + order + coalescing + handlers + modes + threads

    static func named(_ name: String) -> QueuePromise? {
        all.first { $0.name == name }
    }
}

extension TrialQuestion {
    /// A promise, asked of both queues.
    init(_ promise: QueuePromise) {
        self.init(
            promise.name, promise.claim, sentence: promise.sentence,
            expected: TrialExpectation(events: promise.expected, isOrdered: promise.isOrdered),
            foundation: { try QueueTrial.perform(promise, QueueKind.foundation, notes: $0) },
            ours: .body { try QueueTrial.perform(promise, QueueKind.postingQueue, notes: $0) })
    }
}
