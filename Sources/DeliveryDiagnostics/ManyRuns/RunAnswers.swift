/// The facts that are true of all bad runs and of no good run, or the reverse; if there are none, those whose rates
/// differ most.
///
/// Cost: a few passes over the facts of all runs, and one over the pairs of at most 1,000 texts that occur once.
struct RunAnswers {
    /// The kinds of answers, best first.
    enum Kind: String, CaseIterable, Encodable {
        case finding, place, outcome, count, next, order, end
    }

    /// In how many runs something is true, of those that say so.
    struct Rate: Encodable {
        var count: Int
        var known: Int

        var isAll: Bool { known > 0 && count == known }
        var isNone: Bool { known > 0 && count == 0 }
    }

    struct Answer {
        var kind: Kind
        var fact: RunFact
        var good: Rate
        var bad: Rate
        /// True for two neighbours of which good runs have the reverse.
        var isExchange = false

        /// Equal differences of rates are equal numbers.
        private var signed: Double {
            Double(bad.count * good.known - good.count * bad.known) / Double(max(1, good.known * bad.known))
        }
        var isOfBad: Bool { signed > 0 }
        var difference: Double { abs(signed) }
        var isCertain: Bool { bad.isAll && good.isNone || bad.isNone && good.isAll }
    }

    let good: [RunFacts]
    let bad: [RunFacts]
    /// Without consequences.
    private(set) var answers: [Answer] = []
    private(set) var consequences = 0

    private static let longestOrder = 1000
    static let leastRunsOfOrder = 3

    init(good: [RunFacts], bad: [RunFacts]) {
        (self.good, self.bad) = (good, bad)
        var all = facts() + orders()
        if all.contains(where: \.isCertain) { all.removeAll { !$0.isCertain } }
        let ranked = Self.merged(all).map { answer in
            let places = places(answer)
            let (place, kind) = (Double(places.values.min() ?? .max), Kind.allCases.firstIndex(of: answer.kind) ?? 0)
            let rank = [-answer.difference, Double(kind), answer.isExchange ? 0 : 1, answer.isOfBad ? 0 : 1, place]
            return (answer: answer, places: places, rank: rank, words: answer.fact.clause)
        }.sorted { $0.rank == $1.rank ? $0.words < $1.words : $0.rank.lexicographicallyPrecedes($1.rank) }
        // A fact that lies only after a better one's on its role is its consequence.
        var earliest: [String: Int] = [:]
        for (answer, places, _, _) in ranked {
            let isConsequence = !places.isEmpty && places.allSatisfy { earliest[$0.key, default: .max] <= $0.value }
            if isConsequence { consequences += 1 } else { answers.append(answer) }
            earliest.merge(places) { min($0, $1) }
        }
    }

    // MARK: Facts

    private func facts() -> [Answer] {
        // A thread without a name that begins in another way in a run may be any other thread of that run.
        let unnamed = Set((good + bad).flatMap(\.unnamed))
        let open = unnamed.filter { role in (good + bad).contains { !$0.roles.values.contains(role) } }
        func rate(_ fact: RunFact, _ runs: [RunFacts]) -> Rate {
            let known = runs.filter { $0.source.isComplete || $0.evidence[fact] != nil }
            return Rate(count: known.count { $0.evidence[fact] != nil }, known: known.count)
        }
        return Set((good + bad).flatMap(\.evidence.keys)).compactMap { fact in
            if let role = fact.role, open.contains(role) { return nil }
            let answer = Answer(kind: kind(fact), fact: fact, good: rate(fact, good), bad: rate(fact, bad))
            return answer.difference > 0 && answer.good.known > 0 && answer.bad.known > 0 ? answer : nil
        }
    }

    private func kind(_ fact: RunFact) -> Kind {
        switch fact {
        case .finding: .finding
        case .occurs(let text, _) where text.isOutcome: .outcome
        case .occurs(let text, .some)
        // Elsewhere in the runs that do not have it there.
        where (good + bad).allSatisfy { $0.occurrences[text] != nil || !$0.source.isComplete }: .place
        case .occurs, .repeats: .count
        case .follows: .next
        case .precedes: .order
        case .end: .end
        }
    }

    /// The texts that occur once in every good run, and change their order in a bad one.
    private func orders() -> [Answer] {
        guard min(good.count, bad.count) >= Self.leastRunsOfOrder, let first = good.first else { return [] }
        func once(_ text: RunEvent.Text, _ run: RunFacts) -> (line: Int, lane: Int, time: String)? {
            guard let found = run.occurrences[text], found.count == 1, case let event = run.events[found.first],
                event.lane != nil
            else { return nil }
            return (event.line, run.source.run.lines[event.line].lane, run.source.time(event.line))
        }
        let common = first.events.lazy.map(\.text).filter { text in good.allSatisfy { once(text, $0) != nil } }
        let texts = Array(common.prefix(Self.longestOrder))
        let lines = (good + bad).map { run in texts.map { once($0, run) } }
        /// True if the first comes first; nil if that is not known. Lines of one lane do not change their order.
        func isBefore(_ one: Int, _ other: Int, _ run: Int) -> Bool? {
            guard let first = lines[run][one], let second = lines[run][other], first.lane != second.lane,
                first.time != second.time
            else { return nil }
            return first.line < second.line
        }
        var found: [Answer] = []
        for one in texts.indices {
            for other in texts.indices.dropFirst(one + 1)
            where good.indices.allSatisfy({ isBefore(one, other, $0) == true }) {
                let orders = bad.indices.compactMap { isBefore(one, other, good.count + $0) }
                let reversed = orders.count { !$0 }
                guard reversed > 0, orders.count >= Self.leastRunsOfOrder else { continue }
                found.append(
                    Answer(
                        kind: .order, fact: .precedes(texts[other], texts[one]),
                        good: Rate(count: 0, known: good.count), bad: Rate(count: reversed, known: orders.count)))
            }
        }
        return found
    }

    /// Leaves out what a text does anywhere if the answer with its role is as good, and of two neighbours that are
    /// exchanged what only good runs have.
    private static func merged(_ answers: [Answer]) -> [Answer] {
        let differences = Dictionary(answers.map { ($0.fact, $0.difference) }) { one, _ in one }
        let ofBad = Set(answers.filter(\.isOfBad).map(\.fact))
        let anywhere = Set(
            answers.compactMap { answer in
                answer.fact.anywhere.flatMap { differences[$0, default: 2] <= answer.difference ? $0 : nil }
            })
        return answers.compactMap { answer in
            var answer = answer
            if case .follows(let text, let after) = answer.fact {
                let reverse = RunFact.follows(after, after: text)
                if !answer.isOfBad, ofBad.contains(reverse) { return nil }
                answer.isExchange = answer.isOfBad && differences[reverse] != nil && !ofBad.contains(reverse)
            }
            return anywhere.contains(answer.fact) ? nil : answer
        }
    }

    // MARK: Evidence

    /// The events that show a fact in a run: none if it is not true.
    func evidence(_ fact: RunFact, _ run: RunFacts) -> [RunFacts.Event] {
        if case .precedes(let one, let other) = fact {
            let found = [one, other].compactMap { run.occurrences[$0]?.first }
            return found.count == 2 && found[0] < found[1] ? found.map { run.events[$0] } : []
        }
        guard let event = run.evidence[fact].map({ run.events[$0] }) else { return [] }
        guard case .follows = fact, let before = event.before else { return [event] }
        return [run.events[before], event]
    }

    /// For each role, the place on a lane where an answer shows. Two events that change their order both do.
    private func places(_ answer: Answer) -> [String: Int] {
        let shown = (bad + good).lazy.map { evidence(answer.fact, $0) }.first { !$0.isEmpty } ?? []
        let events = answer.isExchange || answer.kind == .order ? shown[...] : shown.suffix(1)
        return events.filter { $0.lane != nil }.reduce(into: [:]) { places, event in
            places[event.role] = min(places[event.role] ?? .max, event.ordinal)
        }
    }
}
