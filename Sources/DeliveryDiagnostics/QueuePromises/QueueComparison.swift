internal import Dispatch
internal import ThreadedNotifications

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
        public var foundation: QueueVerdict
        /// What `PostingQueue` did.
        public var postingQueue: QueueVerdict
    }

    public var rows: [Row]

    /// Has both queues keep each promise, every one in a process of its own, since some do not survive it; two at a time.
    ///
    /// - Parameters:
    ///   - childProgram: calls `QueuePromiseProgram.perform` with the name of a promise and the queue's, and writes each event
    ///     as a line.
    ///   - limit: how long one process may take.
    public static func perform(
        in childProgram: ChildProgram, limit: Duration = .seconds(20)
    ) throws(ScenarioError) -> QueueComparison {
        let promises = QueuePromise.all
        let next = Locked(0)
        let results = Locked<[Int: Result<Row, ScenarioError>]>([:])
        DispatchQueue.concurrentPerform(iterations: 2) { _ in
            while true {
                let index = next.withLock { next in
                    defer { next += 1 }
                    return next
                }
                guard index < promises.count else { return }
                let result = Result { () throws(ScenarioError) in
                    try row(for: promises[index], in: childProgram, limit: limit)
                }
                results.withLock { $0[index] = result }
            }
        }
        var rows: [Row] = []
        for (_, result) in results.withLock({ $0 }).sorted(by: { $0.key < $1.key }) { rows.append(try result.get()) }
        return QueueComparison(rows: rows)
    }

    private static func row(
        for promise: QueuePromise, in childProgram: ChildProgram, limit: Duration
    ) throws(ScenarioError) -> Row {
        let foundation = try observe(promise, .foundation, in: childProgram, limit: limit)
        let postingQueue = try observe(promise, .postingQueue, in: childProgram, limit: limit)
        return Row(
            name: promise.name, claim: promise.claim, sentence: promise.sentence, fact: promise.fact,
            foundation: promise.verdict(on: foundation), postingQueue: promise.verdict(on: postingQueue))
    }

    private static func observe(
        _ promise: QueuePromise, _ kind: QueueKind, in childProgram: ChildProgram, limit: Duration
    ) throws(ScenarioError) -> QueueObservation {
        let result: ChildProgram.Result
        do throws(ScenarioError) {
            result = try childProgram.run([promise.name, kind.rawValue], limit: limit)
        } catch .timedOut {
            return QueueObservation(events: [], end: .hangs)
        }
        let events = result.output.split(separator: "\n").map(String.init)
        switch result.end {
        case .exit(0):
            return QueueObservation(events: events)
        case .exit(let code):
            let said = Excerpt.of(lastWords(in: result.errors) ?? "")
            throw .child(problem: "\(promise.name) of \(kind.rawValue): exit \(code): \(said)")
        case .signal(let signal):
            return QueueObservation(events: events, end: .signal(signal, lastWords: lastWords(in: result.errors)))
        }
    }

    /// The first line, without the address in it.
    private static func lastWords(in errors: String) -> String? {
        errors.split(separator: "\n").first.map { line in
            String(line[..<(line.firstRange(of: " to 0x")?.lowerBound ?? line.endIndex)])
        }
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
