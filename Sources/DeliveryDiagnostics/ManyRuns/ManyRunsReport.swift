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
    private let notes: [String]

    private enum CodingKeys: CodingKey {
        case outcome, answers, consequences, notes
    }

    /// - Parameter pools: regular expressions for the names, or ids, of threads of text logs that stand for one another.
    /// - Throws: `LogPattern.Refusal`, and `LogError` if a recording is compared with logs and has no messages.
    package init(
        good: [ComparisonInput], bad: [ComparisonInput], pools: [String], maximumAnswers: Int
    ) throws {
        var (texts, logs, used) = (FactTexts(), [TextLog](), Set<String>())
        let patterns = try pools.map { (source: $0, pattern: try LogPattern($0, option: "--pool")) }
        let areLogs = (good + bad).contains { if case .log = $0 { true } else { false } }
        func facts(_ input: ComparisonInput) throws -> RunFacts {
            if !areLogs, case .recording(let recording) = input { return RunFacts(recording, &texts) }
            let log = try input.log()
            logs.append(log)
            return try RunFacts(log, &texts) { label in
                let pool = try patterns.first { try $0.pattern.isFound(in: label) }
                if let pool { used.insert(pool.source) }
                return pool?.source
            }
        }
        let runs = (good: try good.map(facts), bad: try bad.map(facts))
        let unused = areLogs ? pools.filter { !used.contains($0) }.map { "--pool \($0)" } : []
        self.init(
            RunAnswers(good: runs.good, bad: runs.bad, texts), maximumAnswers,
            (TextLog.unmatchedUnit(logs) + unused).map(LogNotes.unmatched))
    }

    private init(_ found: RunAnswers, _ maximumAnswers: Int, _ unmatched: [String]) {
        isDecided = found.areCertain
        outcome = isDecided ? "different" : "undecided"
        answers = found.answers.prefix(maximumAnswers).map { answer in
            Answer(
                kind: answer.kind, sentence: found.sentence(answer), good: answer.good, bad: answer.bad,
                goodLines: found.shown(answer, isOfBad: false), badLines: found.shown(answer, isOfBad: true))
        }
        consequences = found.consequences
        let (rest, incomplete) = (
            found.answers.count - answers.count, (found.good + found.bad).count { !$0.isComplete }
        )
        var notes = unmatched
        let least = found.areLimited ? "at least " : ""
        if rest > 0 { notes.append("There are \(least)\(counted(rest, "more answer")): see --differences.") }
        if consequences > 0 {
            notes.append("Not shown: \(least)\(counted(consequences, "difference")) after these, which may follow.")
        }
        if incomplete > 0 {
            notes.append("Records that \(counted(incomplete, "incomplete run")) may lack count for neither.")
        }
        if min(found.good.count, found.bad.count) < RunAnswers.leastRunsOfOrder {
            notes.append("Order between threads is compared only with three good and three bad runs.")
        }
        self.notes = notes
        let (good, bad) = (counted(found.good.count, "good run"), counted(found.bad.count, "bad run"))
        let head =
            if isDecided {
                "\(bad) differ\(found.bad.count == 1 ? "s" : "") from \(good)"
            } else if answers.isEmpty {
                "nothing differs between \(bad) and \(good)"
            } else {
                "no fact is true of all \(bad) and of none of \(good), or the reverse; the largest differences:"
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
        guard let opposite = answer.opposite else {
            let sides = [words(answer.good, good.count, "good"), words(answer.bad, bad.count, "bad")]
            return "In \(answer.isOfBad ? sides[1] : sides[0]) and \(answer.isOfBad ? sides[0] : sides[1]), \(clause)."
        }
        let (inBad, inGood) = (
            words(answer.bad, bad.count, "bad"), words(answer.good.opposite, good.count, "good")
        )
        guard case .occurs(let text, let role?) = opposite else {
            return "In \(inBad) \(clause), in \(inGood) \(answer.kind == .next ? "directly before" : "after") it."
        }
        return "\(clause) in \(inBad), \(texts[text].deed.preposition) \(texts.subject(role)) in \(inGood)."
    }

    private func words(_ rate: Rate, _ total: Int, _ kind: String) -> String {
        let known = rate.known < total ? " of which it is known" : ""
        if rate.isNone { return "no \(kind) run\(known)" }
        if rate.isAll, rate.known == 1 { return "the \(kind) run\(known)" }
        if rate.isAll { return "all \(rate.known) \(kind) runs\(known)" }
        return "\(rate.count) of \(rate.known) \(kind) runs\(known)"
    }

    /// The lines of a good or bad run that show an answer, or those in its place.
    fileprivate func shown(_ answer: Answer, isOfBad: Bool) -> [RunDifference.Side] {
        let runs = isOfBad ? bad : good
        // A run that is as the answer says of its kind, if there is one.
        let facts = isOfBad == answer.isOfBad ? [answer.fact] : [answer.opposite, nil].compactMap(\.self)
        for fact in facts {
            for run in runs {
                let found = evidence(fact, run)
                if !found.isEmpty { return found.map { run.side(run.events[$0]) } }
            }
        }
        guard let run = runs.first(where: { evidence(answer.fact, $0).isEmpty }),
            let other = (isOfBad ? good : bad).first(where: { !evidence(answer.fact, $0).isEmpty }),
            let event = evidence(answer.fact, other).last
        else { return [] }
        if let own = run.occurrences[other.events[event].text]?.first {
            let before = evidence(answer.fact, other).count > 1 ? run.events[own].before : nil
            return [before, own].compactMap(\.self).map { run.side(run.events[$0]) }
        }
        guard let before = counterpart(of: event, other, run) else {
            return [RunDifference.Side(source: run.source, text: "(not here)")]
        }
        var side = run.side(run.events[before])
        side.text = "(not here, nor after it) \(side.text ?? "")"
        return [side]
    }
}
