internal import DeliveryRecording

/// The answers about good and bad runs, as text and as one JSON document.
package struct ManyRunsReport: Sendable, Encodable, CustomStringConvertible {
    private struct Answer: Encodable, Sendable {
        let kind: RunAnswers.Kind
        let sentence: String
        let good, bad: RunAnswers.Rate
        let goodLines, badLines: [RunDifference.Side]
    }

    /// Several lines, without the last newline.
    package let description: String
    /// True if something is true of all bad runs and of no good one, or the reverse.
    package let isDecided: Bool
    private let outcome: String
    private let answers: [Answer]
    /// The number of differences that may follow from the answers.
    private let consequences: Int
    private var notes: [String] = []

    private enum CodingKeys: CodingKey {
        case outcome, answers, consequences, notes
    }

    /// - Parameter pools: regular expressions for the names, or ids, of threads of text logs that replace one another.
    /// - Throws: `LogPattern.Refusal`, and `LogError` if there are recordings and logs.
    package init(good: [ComparisonInput], bad: [ComparisonInput], pools: [String], maximumAnswers: Int) throws {
        let (recordings, logs) = try ComparisonInput.split(good + bad)
        let threads = try LogThreads(logs, pools: pools)
        let facts =
            recordings.map { RunFacts(ComparedRecording(RecordingIndex($0))) }
            + logs.map { RunFacts(ComparedLog($0, threads)) }
        let found = RunAnswers(good: Array(facts.prefix(good.count)), bad: Array(facts.dropFirst(good.count)))
        isDecided = found.answers.first?.isCertain ?? false
        outcome = isDecided ? "different" : "undecided"
        answers = found.answers.prefix(maximumAnswers).map { answer in
            Answer(
                kind: answer.kind, sentence: found.sentence(answer), good: answer.good, bad: answer.bad,
                goodLines: found.shown(answer, isOfBad: false), badLines: found.shown(answer, isOfBad: true))
        }
        consequences = found.consequences
        let rest = found.answers.count - answers.count
        if rest > 0 { notes.append("Not shown: \(counted(rest, "more answer")) (see --differences).") }
        if consequences > 0 {
            notes.append("Not shown: \(counted(consequences, "difference")) after these, which may follow.")
        }
        let incomplete = facts.count { !$0.source.isComplete }
        if incomplete > 0 {
            notes.append("Records that \(counted(incomplete, "incomplete run")) may lack count for neither.")
        }
        if min(good.count, bad.count) < RunAnswers.leastRunsOfOrder {
            notes.append("Order between threads is compared only with three good and three bad runs.")
        }
        let (goodRuns, badRuns) = (counted(good.count, "good run"), counted(bad.count, "bad run"))
        let head =
            if isDecided {
                "\(badRuns) differ\(bad.count == 1 ? "s" : "") from \(goodRuns)"
            } else if answers.isEmpty {
                "nothing differs between \(badRuns) and \(goodRuns)"
            } else {
                "no fact is true of all \(badRuns) and of none of \(goodRuns), or the reverse; the largest differences:"
            }
        let paragraphs = answers.map { answer in
            ([answer.sentence] + RunDifference.lines(of: answer.goodLines + answer.badLines)).joined(separator: "\n")
        }
        description = ([head] + paragraphs + notes).joined(separator: "\n\n")
    }
}

extension RunAnswers {
    fileprivate func sentence(_ answer: Answer) -> String {
        let (inGood, inBad) = (words(answer.good, good.count, "good"), words(answer.bad, bad.count, "bad"))
        let runs = answer.isOfBad ? "\(inBad) and \(inGood)" : "\(inGood) and \(inBad)"
        return "In \(runs), \(answer.fact.clause)."
    }

    private func words(_ rate: Rate, _ total: Int, _ kind: String) -> String {
        let known = rate.known < total ? " of which it is known" : ""
        if rate.isNone { return "no \(kind) run\(known)" }
        if rate.isAll, rate.known == 1 { return "the \(kind) run\(known)" }
        return "\(rate.isAll ? "all" : "\(rate.count) of") \(rate.known) \(kind) runs\(known)"
    }

    /// The lines of a good or bad run that show an answer, or the line in its place.
    fileprivate func shown(_ answer: Answer, isOfBad: Bool) -> [RunDifference.Side] {
        let (runs, others) = isOfBad ? (bad, good) : (good, bad)
        if isOfBad == answer.isOfBad, let run = runs.first(where: { !evidence(answer.fact, $0).isEmpty }) {
            return evidence(answer.fact, run).map { run.source.side($0.line) }
        }
        guard let event = others.lazy.compactMap({ evidence(answer.fact, $0).last }).first,
            let run = runs.first(where: { evidence(answer.fact, $0).isEmpty })
        else { return [] }
        let inPlace = run.events.first { $0.role == event.role && $0.ordinal == event.ordinal }
        var side = run.source.side(inPlace?.line)
        side.text = side.text.map { "(in its place) \($0)" } ?? "(nothing in its place)"
        return [side]
    }
}
