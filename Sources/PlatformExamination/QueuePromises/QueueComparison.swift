package import ChildProcesses
internal import DeliveryDiagnostics
package import Scenarios

/// A comparison of Foundation's notification queue with `PostingQueue`: which promises each of them keeps on this
/// platform.
package struct QueueComparison: Sendable, Hashable {
    /// One promise and the verdicts on both queues.
    package struct Row: Sendable, Hashable {
        /// The name of the promise.
        package var name: String
        /// The promise itself.
        package var claim: String
        /// The sentence of Apple's document, if there is one.
        package var sentence: String?
        /// The number of the fact that says how Foundation breaks the promise, or nil.
        package var fact: String?
        /// The verdict on Foundation's queue.
        package var foundation: TrialVerdict
        /// The verdict on `PostingQueue`.
        package var postingQueue: TrialVerdict
    }

    package var rows: [Row]

    /// Tries each promise with both queues. Each trial runs in a process of its own, because some of them crash.
    ///
    /// - Parameters:
    ///   - childProgram: calls `TrialProgram.perform` with the name of a promise and the side, and writes each event as
    ///     a line.
    ///   - timeout: the longest that one process may run.
    ///   - progress: receives the fraction of processes that have ended, on any thread.
    package static func perform(
        in childProgram: ChildProgram, timeout: Duration = .seconds(60),
        progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) throws(ScenarioError) -> QueueComparison {
        let promises = QueuePromise.all
        let answers = try TrialAnswers.to(
            promises.map { TrialQuestion($0) }, in: childProgram, timeout: timeout, progress: progress)
        return QueueComparison(
            rows: zip(promises, answers).compactMap { promise, answers in
                answers.ours.map { ours in
                    Row(
                        name: promise.name, claim: promise.claim, sentence: promise.sentence, fact: promise.fact,
                        foundation: answers.foundation.verdict, postingQueue: ours.verdict)
                }
            })
    }

    // MARK: Output

    /// The comparison as a Markdown table.
    package var markdown: String {
        let heading = ["promise", "fact", "Foundation's queue", "`PostingQueue`"]
        var lines = ([heading] + cells).map { "| \($0.joined(separator: " | ")) |" }
        lines.insert("|" + heading.map { _ in "---|" }.joined(), at: 1)
        return lines.joined(separator: "\n")
    }

    /// The comparison as aligned text.
    package var text: String {
        Table.text([["promise", "fact", "Foundation's queue", "PostingQueue"]] + cells)
    }

    private var cells: [[String]] {
        rows.map { [$0.claim, $0.fact ?? "", "\($0.foundation)", "\($0.postingQueue)"] }
    }
}
