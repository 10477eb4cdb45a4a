/// The answers about good and bad runs, as text and as one JSON document.
package struct ManyRunsReport: Sendable, Encodable, CustomStringConvertible {
    private struct Answer: Encodable, Sendable {
        var kind: RunAnswers.Kind
        var sentence: String
        var good: RunAnswers.Rate
        var bad: RunAnswers.Rate
        var goodLines: [RunDifference.Side]
        var badLines: [RunDifference.Side]
    }

    /// Several lines, without the last newline.
    package let description: String
    /// True if something is true of all bad runs and of no good one, or the reverse.
    package let isDecided: Bool
    private let outcome: String
    private let answers: [Answer]
    /// The number of differences that may follow from the answers.
    private let consequences: Int
    private var notes: [String]

    private enum CodingKeys: CodingKey {
        case outcome, answers, consequences, notes
    }

    /// - Parameter pools: regular expressions for the names, or ids, of threads of text logs that stand for one another.
    /// - Throws: `LogPattern.Refusal`, and `LogError` if a recording is compared with logs and has no messages.
    package init(
        good: [ComparisonInput], bad: [ComparisonInput], pools: [String], maximumAnswers: Int
    ) throws {
        var (logs, used) = ([TextLog](), Set<String>())
        let (texts, patterns) = (FactTexts(), try LogPattern.all(pools, option: "--pool"))
        let areLogs = (good + bad).contains { if case .log = $0 { true } else { false } }
        func facts(_ input: ComparisonInput) throws -> RunFacts {
            if !areLogs, case .recording(let recording) = input { return RunFacts(recording, texts) }
            let log = try input.log()
            logs.append(log)
            return try RunFacts(log, texts) { label in
                let pool = try LogPattern.first(of: patterns, in: label)
                if let pool { used.insert(pool) }
                return pool
            }
        }
        let found = RunAnswers(good: try good.map(facts), bad: try bad.map(facts), texts)
        isDecided = found.areCertain
        outcome = isDecided ? "different" : "undecided"
        answers = found.answers.prefix(maximumAnswers).map { answer in
            Answer(
                kind: answer.kind, sentence: found.sentence(answer), good: answer.good, bad: answer.bad,
                goodLines: found.shown(answer, isOfBad: false), badLines: found.shown(answer, isOfBad: true))
        }
        consequences = found.consequences
        notes = areLogs ? LogNotes.unmatched(logs, pools, used) : []
        let (rest, least) = (found.answers.count - answers.count, found.areLimited ? "at least " : "")
        let incomplete = (found.good + found.bad).count { !$0.isComplete }
        var hidden = rest > 0 ? ["\(least)\(counted(rest, "more answer")) (see --differences)"] : []
        if consequences > 0 {
            hidden.append("\(least)\(counted(consequences, "difference")) after these, which may follow")
        }
        if !hidden.isEmpty { notes.append("Not shown: \(hidden.joined(separator: ", and ")).") }
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

// MARK: Sentences and lines

extension RunAnswers {
    fileprivate func sentence(_ answer: Answer) -> String {
        let clause = texts.clause(answer.fact)
        let inBad = words(answer.bad, bad.count, "bad")
        guard let opposite = answer.opposite else {
            let inGood = words(answer.good, good.count, "good")
            return answer.isOfBad ? "In \(inBad) and \(inGood), \(clause)." : "In \(inGood) and \(inBad), \(clause)."
        }
        let inGood = words(answer.good.opposite, good.count, "good")
        guard case .occurs(let text, let role?) = opposite else {
            return "In \(inBad) \(clause), in \(inGood) \(answer.kind == .next ? "directly before" : "after") it."
        }
        return "\(clause) in \(inBad), \(texts[text].deed.preposition) \(texts.subject(role)) in \(inGood)."
    }

    private func words(_ rate: Rate, _ total: Int, _ kind: String) -> String {
        let known = rate.known < total ? " of which it is known" : ""
        if rate.isNone { return "no \(kind) run\(known)" }
        if rate.isAll, rate.known == 1 { return "the \(kind) run\(known)" }
        return "\(rate.isAll ? "all" : "\(rate.count) of") \(rate.known) \(kind) runs\(known)"
    }

    /// The lines of a good or bad run that show an answer, or those in its place.
    fileprivate func shown(_ answer: Answer, isOfBad: Bool) -> [RunDifference.Side] {
        let runs = isOfBad ? bad : good
        func side(_ event: Int, _ run: RunFacts) -> RunDifference.Side { run.side(run.events[event].line.number) }
        // A run that is as the answer says of its kind, if there is one.
        for fact in isOfBad == answer.isOfBad ? [answer.fact] : [answer.opposite, nil].compactMap(\.self) {
            for run in runs {
                let found = evidence(fact, run)
                if !found.isEmpty { return found.map { side($0, run) } }
            }
        }
        guard let run = runs.first(where: { evidence(answer.fact, $0).isEmpty }),
            let other = (isOfBad ? good : bad).first(where: { !evidence(answer.fact, $0).isEmpty }),
            let event = evidence(answer.fact, other).last
        else { return [] }
        if let own = run.occurrences[other.events[event].text]?.first {
            let before = evidence(answer.fact, other).count > 1 ? run.events[own].before : nil
            return [before, own].compactMap(\.self).map { side($0, run) }
        }
        guard let before = counterpart(of: event, other, run) else {
            return [RunDifference.Side(source: run.source, text: "(not here)")]
        }
        var shown = side(before, run)
        shown.text = "(not here, nor after it) \(shown.text ?? "")"
        return [shown]
    }
}
