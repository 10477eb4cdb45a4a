internal import DeliveryRecording

/// The result of a comparison as a line of JSON.
package struct ComparisonLine: Sendable, Encodable {
    /// A record or line of one input.
    struct Side: Sendable, Encodable {
        var source: String
        var line: Int?
        var thread: String?
        var stage: DeliveryStage?
        var text: String?
    }

    private var outcome: String
    private var compared: Int?
    private var threads: Int?
    private var reason: String?
    private var explanation: [String]?
    private var tries: Int?
    private var first: Side?
    private var second: Side?

    package init(_ outcome: CausalComparison.Outcome) {
        switch outcome {
        case .same(let records, let threads):
            self.init(outcome: "same", compared: records, threads: threads)
        case .different(let difference):
            self.init(difference)
        case .undecided(let undecided):
            self.init(undecided.furthest)
            self.outcome = "undecided"
            if !undecided.isTruncated { tries = undecided.tries }
        }
    }

    package init(_ outcome: TextLog.Outcome) {
        switch outcome {
        case .same(let lines, let threads): self.init(outcome: "same", compared: lines, threads: threads)
        case .different(let difference):
            self.init(outcome: "different")
            reason = difference.reason.word
            explanation = [difference.explanation]
            first = Side(difference.first)
            second = Side(difference.second)
        case .undecided(let tries):
            self.init(outcome: "undecided")
            self.tries = tries
        }
    }

    private init(outcome: String, compared: Int? = nil, threads: Int? = nil) {
        self.outcome = outcome
        self.compared = compared
        self.threads = threads
    }

    private init(_ difference: CausalDifference) {
        self.init(outcome: "different")
        reason = difference.reason.rawValue
        explanation = difference.explanation
        first = Side(difference.first)
        second = Side(difference.second)
    }

    /// The line, without its newline.
    package var text: String {
        get throws {
            return try JSONText.of(self)
        }
    }
}

extension ComparisonLine.Side {
    fileprivate init(_ side: CausalDifference.Side) {
        self.init(
            source: side.source, line: side.line, thread: side.thread, stage: side.stage,
            text: side.index.map { _ in side.text })
    }

    fileprivate init(_ side: LogDifference.Side) {
        self.init(source: side.log, line: side.number, text: side.line)
    }
}

extension LogDifference.Reason {
    fileprivate var word: String {
        switch self {
        case .message: "message"
        case .process: "process"
        case .thread: "thread"
        case .threadNumber, .mention: "mention"
        case .oneEnds: "oneEnds"
        case .threadEnds: "threadEnds"
        }
    }
}
