/// The facts that are true of all bad runs and of no good run, or the reverse; if there are none, those whose rates
/// differ most.
///
/// Cost: a few passes over the facts of all runs, and one over the pairs of at most 1,000 texts that occur once.
struct RunAnswers {
    /// The kinds of answers, best first.
    enum Kind: String, CaseIterable, Encodable {
        case finding, place, outcome, count, next, order, end

        fileprivate var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// In how many runs something is true, of those that say so.
    struct Rate: Encodable {
        var count: Int
        var known: Int

        var isAll: Bool { known > 0 && count == known }
        var isNone: Bool { known > 0 && count == 0 }
        var opposite: Rate { Rate(count: known - count, known: known) }
    }

    struct Answer {
        var kind: Kind
        var fact: RunFact
        /// The fact that is true of the other runs in its place.
        var opposite: RunFact?
        var good: Rate
        var bad: Rate

        /// Equal differences of rates are equal numbers.
        private var signed: Double {
            Double(bad.count * good.known - good.count * bad.known) / Double(max(1, good.known * bad.known))
        }
        var isOfBad: Bool { signed > 0 }
        var difference: Double { abs(signed) }
        var isCertain: Bool { bad.isAll && good.isNone || bad.isNone && good.isAll }
    }

    let texts: FactTexts
    let good: [RunFacts]
    let bad: [RunFacts]
    /// Without consequences.
    private(set) var answers: [Answer] = []
    private(set) var consequences = 0
    var areCertain: Bool { answers.first?.isCertain ?? false }

    private static let longestOrder = 1000
    static let leastRunsOfOrder = 3

    init(good: [RunFacts], bad: [RunFacts], _ texts: FactTexts) {
        (self.good, self.bad, self.texts) = (good, bad, texts)
        var all = facts() + orders()
        if all.contains(where: \.isCertain) { all.removeAll { !$0.isCertain } }
        let ranked = Self.merged(all).map { answer in
            let places = places(answer)
            let place = Double(places.values.min() ?? .max)
            let rank = [-answer.difference, Double(answer.kind.rank), answer.opposite == nil ? 1 : 0, place]
            return (answer: answer, places: places, rank: rank, words: texts.clause(answer.fact))
        }.sorted { $0.rank == $1.rank ? $0.words < $1.words : $0.rank.lexicographicallyPrecedes($1.rank) }
        // A fact that lies only after a better one's on its role is its consequence.
        var earliest: [Int: Int] = [:]
        for (answer, places, _, _) in ranked {
            let isConsequence = !places.isEmpty && places.allSatisfy { earliest[$0.key, default: .max] <= $0.value }
            if isConsequence { consequences += 1 } else { answers.append(answer) }
            earliest.merge(places) { min($0, $1) }
        }
    }

    // MARK: Facts

    private func facts() -> [Answer] {
        // A thread without a name that begins in another way in a run may be any other thread of that run.
        let open = texts.unnamed.filter { role in (good + bad).contains { !$0.roles.values.contains(role) } }
        func rate(_ fact: RunFact, _ runs: [RunFacts]) -> Rate {
            let known = runs.filter { $0.isComplete || $0.evidence[fact] != nil }
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
        case .occurs(let text, _) where texts[text].isOutcome: .outcome
        case .occurs(let text, .some)
        // Elsewhere in the runs that do not have it there.
        where (good + bad).allSatisfy { $0.occurrences[text] != nil || !$0.isComplete }: .place
        case .occurs, .repeats: .count
        case .follows: .next
        case .precedes: .order
        case .ends, .end: .end
        }
    }

    /// The texts that occur once in every good run, and change their order in a bad one.
    private func orders() -> [Answer] {
        guard min(good.count, bad.count) >= Self.leastRunsOfOrder, let first = good.first else { return [] }
        func once(_ text: Int, _ run: RunFacts) -> RunFacts.Line? {
            guard let found = run.occurrences[text], found.count == 1 else { return nil }
            let line = run.events[found.first].line
            return line.lane == nil ? nil : line
        }
        let common = first.events.lazy.map(\.text).filter { text in good.allSatisfy { once(text, $0) != nil } }
        let texts = Array(common.prefix(Self.longestOrder))
        let lines = (good + bad).map { run in texts.map { once($0, run) } }
        /// True if the first comes first; nil if that is not known.
        func isBefore(_ one: Int, _ other: Int, _ run: Int) -> Bool? {
            guard let first = lines[run][one], let second = lines[run][other], first.chain != second.chain,
                first.time != second.time
            else { return nil }
            return first.number < second.number
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
                        opposite: .precedes(texts[one], texts[other]), good: Rate(count: 0, known: good.count),
                        bad: Rate(count: reversed, known: orders.count)))
            }
        }
        return found
    }

    /// Joins answers: a text that has another role in the good runs, two neighbours that are exchanged, and a text with
    /// and without its role.
    private static func merged(_ answers: [Answer]) -> [Answer] {
        let ofGood = answers.filter { $0.isCertain && !$0.isOfBad }
        let places = Dictionary(grouping: ofGood.filter { $0.kind == .place && $0.fact.role != nil }) {
            $0.fact.anywhere
        }
        let certain = Set(ofGood.map(\.fact))
        let differences = Dictionary(answers.map { ($0.fact, $0.difference) }) { one, _ in one }
        var used = Set(
            answers.compactMap { answer in
                answer.fact.anywhere.flatMap { differences[$0, default: 2] <= answer.difference ? $0 : nil }
            })
        var result = answers
        for (index, answer) in answers.enumerated() where answer.isCertain && answer.isOfBad {
            if case .follows(let text, let after) = answer.fact {
                let reverse = RunFact.follows(after, after: text)
                if certain.contains(reverse) { result[index].opposite = reverse }
            } else if answer.kind == .place, let others = places[answer.fact.anywhere], others.count == 1 {
                result[index].opposite = others[0].fact
            }
            if let opposite = result[index].opposite { used.insert(opposite) }
        }
        return result.filter { !used.contains($0.fact) }
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

    /// For each role, the place on a lane where an answer shows.
    private func places(_ answer: Answer) -> [Int: Int] {
        let isSwap = answer.opposite != nil && answer.kind != .place
        var places: [Int: Int] = [:]
        for fact in [answer.fact, answer.opposite].compactMap(\.self) {
            guard let shown = (bad + good).lazy.map({ evidence(fact, $0) }).first(where: { !$0.isEmpty }) else {
                continue
            }
            // Of two neighbours the second is where it shows.
            for event in isSwap ? shown : shown.suffix(1) where event.line.lane != nil {
                places[event.role] = min(places[event.role] ?? .max, event.ordinal)
            }
        }
        return places
    }
}
