/// Which promises Foundation's notification queue keeps here, and which `PostingQueue` does.
public struct QueueComparison: Sendable, Hashable {
    /// One promise, and what came of it.
    public struct Row: Sendable, Hashable {
        /// What the promise is called.
        public var name: String
        /// The promise.
        public var claim: String
        /// The sentence of Apple's document, if it has one.
        public var sentence: String?
        /// The number of what was known to break it in Foundation; nil: nothing was.
        public var fact: String?
        /// What Foundation's queue did here.
        public var foundation: TrialVerdict
        /// What `PostingQueue` did.
        public var postingQueue: TrialVerdict
    }

    public var rows: [Row]

    /// Has both queues keep each promise, every one in a process of its own, since some do not survive it.
    ///
    /// - Parameters:
    ///   - childProgram: calls `TrialProgram.perform` with the name of a promise and the side, and writes each event as a
    ///     line.
    ///   - limit: how long one process may take.
    ///   - progress: told what fraction of the processes has ended, on any thread.
    public static func perform(
        in childProgram: ChildProgram, limit: Duration = .seconds(60),
        progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) throws(ScenarioError) -> QueueComparison {
        let promises = QueuePromise.all
        let answers = try TrialAnswers.to(
            promises.map { TrialQuestion($0) }, in: childProgram, limit: limit, progress: progress)
        return QueueComparison(
            rows: zip(promises, answers).compactMap { promise, answers in
                answers.ours.map { ours in
                    Row(
                        name: promise.name, claim: promise.claim, sentence: promise.sentence, fact: promise.fact,
                        foundation: answers.foundation.verdict, postingQueue: ours.verdict)
                }
            })
    }

    // MARK: Showing it

    /// As a table in Markdown.
    public var markdown: String {
        let heading = ["promise", "fact", "Foundation's queue", "`PostingQueue`"]
        var lines = ([heading] + cells).map { "| \($0.joined(separator: " | ")) |" }
        lines.insert("|" + heading.map { _ in "---|" }.joined(), at: 1)
        return lines.joined(separator: "\n")
    }

    /// As aligned text.
    public var text: String {
        Table.text([["promise", "fact", "Foundation's queue", "PostingQueue"]] + cells)
    }

    private var cells: [[String]] {
        rows.map { [$0.claim, $0.fact ?? "", "\($0.foundation)", "\($0.postingQueue)"] }
    }
}
