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
        /// Where it begins in one of the runs.
        var event: Int

        /// Equal differences of rates are equal numbers.
        private var signed: Double {
            Double(bad.count * good.known - good.count * bad.known) / Double(max(1, good.known * bad.known))
        }
        var isOfBad: Bool { signed > 0 }
        var difference: Double { abs(signed) }
        var isCertain: Bool { bad.isAll && good.isNone || bad.isNone && good.isAll }
        fileprivate var rank: [Double] { [-difference, Double(kind.rank), Double(event)] }
    }

    let texts: FactTexts
    let good: [RunFacts]
    let bad: [RunFacts]
    /// Without consequences.
    private(set) var answers: [Answer] = []
    private(set) var consequences = 0
    /// True if there are more answers or consequences.
    private(set) var areLimited = false
    var areCertain: Bool { answers.first?.isCertain ?? false }

    private static let longestOrder = 1000
    static let leastRunsOfOrder = 3
    private static let maximumAnswers = 1000

    init(good: [RunFacts], bad: [RunFacts], _ texts: FactTexts) {
        (self.good, self.bad, self.texts) = (good, bad, texts)
        var all = facts() + orders()
        if all.contains(where: \.isCertain) { all.removeAll { !$0.isCertain } }
        all = Self.merged(all).sorted { $0.rank.lexicographicallyPrecedes($1.rank) }
        areLimited = all.count > Self.maximumAnswers
        typealias Ordered = (answer: Answer, places: [String: Int], order: [Double], words: String)
        let ordered = all.prefix(Self.maximumAnswers).map { answer -> Ordered in
            let places = places(answer)
            let place = Double(places.values.min() ?? .max)
            let order: [Double] = [
                -answer.difference, Double(answer.kind.rank), answer.opposite == nil ? 1.0 : 0.0, place,
            ]
            return (answer, places, order, texts.clause(answer.fact))
        }
        let best = ordered.sorted { (one: Ordered, other: Ordered) -> Bool in
            one.order == other.order
                ? one.words < other.words : one.order.lexicographicallyPrecedes(other.order)
        }
        // A fact that lies only after a better one's on its lane is its consequence.
        var earliest: [String: Int] = [:]
        for (answer, places, _, _) in best {
            let isConsequence = !places.isEmpty && places.allSatisfy { earliest[$0.key, default: .max] <= $0.value }
            if isConsequence { consequences += 1 } else { answers.append(answer) }
            earliest.merge(places) { min($0, $1) }
        }
    }

    // MARK: Facts

    private func facts() -> [Answer] {
        var counts: [RunFact: (good: Int, bad: Int, event: Int)] = [:]
        for run in good { for (fact, event) in run.evidence { counts[fact, default: (0, 0, event)].good += 1 } }
        for run in bad { for (fact, event) in run.evidence { counts[fact, default: (0, 0, event)].bad += 1 } }
        // A thread without a name that begins in another way in a run may be any other thread of that run.
        let open = texts.unnamed.filter { role in (good + bad).contains { !$0.roles.values.contains(role) } }
        let (openGood, openBad) = (good.filter { !$0.isComplete }, bad.filter { !$0.isComplete })
        return counts.compactMap { fact, count in
            if let role = fact.role, open.contains(role) { return nil }
            let answer = Answer(
                kind: kind(fact), fact: fact,
                good: Rate(count: count.good, known: good.count - openGood.count { $0.evidence[fact] == nil }),
                bad: Rate(count: count.bad, known: bad.count - openBad.count { $0.evidence[fact] == nil }),
                event: count.event)
            return answer.difference > 0 && answer.good.known > 0 && answer.bad.known > 0 ? answer : nil
        }
    }

    private func kind(_ fact: RunFact) -> Kind {
        switch fact {
        case .finding: .finding
        case .occurs(let text, _) where texts[text].deed.isOutcome: .outcome
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
        func once(_ text: Int, _ run: RunFacts) -> RunFacts.Event? {
            guard let found = run.occurrences[text], found.count == 1 else { return nil }
            let event = run.events[found.first]
            return event.lane == nil ? nil : event
        }
        let candidates = Array(
            first.events.lazy.map(\.text).filter { text in
                good.allSatisfy { once(text, $0) != nil } && bad.contains { once(text, $0) != nil }
            }.prefix(Self.longestOrder))
        let lines = (good + bad).map { run in candidates.map { once($0, run)?.line } }
        /// -1, 0 or 1; 0 if the order is not known.
        func order(_ one: Int, _ other: Int, _ run: Int) -> Int {
            guard let first = lines[run][one], let second = lines[run][other], first.chain != second.chain,
                first.time != second.time, (first.time < second.time) == (first.number < second.number)
            else { return 0 }
            return first.number < second.number ? -1 : 1
        }
        var found: [Answer] = []
        for one in candidates.indices {
            for other in candidates.indices.dropFirst(one + 1) {
                guard good.indices.allSatisfy({ order(one, other, $0) == -1 }) else { continue }
                let orders = bad.indices.map { order(one, other, good.count + $0) }.filter { $0 != 0 }
                let reversed = orders.count { $0 == 1 }
                guard reversed > 0, orders.count >= Self.leastRunsOfOrder,
                    reversed == orders.count || found.count < Self.maximumAnswers
                else { continue }
                let (text, next) = (candidates[one], candidates[other])
                found.append(
                    Answer(
                        kind: .order, fact: .precedes(next, text), opposite: .precedes(text, next),
                        good: Rate(count: 0, known: good.count), bad: Rate(count: reversed, known: orders.count),
                        event: one))
            }
        }
        return found
    }

    /// Joins answers: a text that has another role in the good runs, two neighbours that are exchanged, and a text with
    /// and without its role.
    private static func merged(_ answers: [Answer]) -> [Answer] {
        let ofGood = answers.filter { $0.isCertain && !$0.isOfBad }
        let certain = Set(ofGood.map(\.fact))
        let places = Dictionary(grouping: ofGood.filter { $0.kind == .place && $0.fact.role != nil }) {
            $0.fact.anywhere
        }
        let differences = Dictionary(answers.map { ($0.fact, $0.difference) }) { one, _ in one }
        var used: Set<RunFact> = []
        for answer in answers {
            guard let anywhere = answer.fact.anywhere else { continue }
            if differences[anywhere, default: 2] <= answer.difference { used.insert(anywhere) }
        }
        var result = answers
        for (index, answer) in answers.enumerated() where answer.isCertain && answer.isOfBad {
            if case .follows(let text, let after) = answer.fact, certain.contains(.follows(after, after: text)) {
                result[index].opposite = .follows(after, after: text)
            } else if answer.kind == .place, let others = places[answer.fact.anywhere], others.count == 1 {
                result[index].opposite = others[0].fact
            }
            if let opposite = result[index].opposite { used.insert(opposite) }
        }
        return result.filter { !used.contains($0.fact) }
    }

    // MARK: Evidence

    /// The events that show a fact in a run: none if it is not true.
    func evidence(_ fact: RunFact, _ run: RunFacts) -> [Int] {
        if case .precedes(let one, let other) = fact {
            guard let first = run.occurrences[one]?.first, let second = run.occurrences[other]?.first, first < second
            else { return [] }
            return [first, second]
        }
        guard let event = run.evidence[fact] else { return [] }
        if case .follows = fact, let before = run.events[event].before { return [before, event] }
        return [event]
    }

    /// The places in a bad run where a fact shows, or where it would.
    private func places(_ answer: Answer) -> [String: Int] {
        var places: [String: Int] = [:]
        func add(_ event: Int, _ lane: String?) {
            if let lane { places[lane] = min(places[lane] ?? .max, event) }
        }
        guard let reference = bad.first(where: \.isComplete) ?? bad.first else { return [:] }
        let shown = evidence(answer.fact, reference)
        let isSwap = answer.kind == .next && answer.opposite != nil || answer.kind == .order
        // Of two neighbours the second is where it shows.
        for event in isSwap ? shown : shown.suffix(1) { add(event, reference.events[event].lane) }
        for fact in [answer.fact, answer.opposite].compactMap(\.self) where !isSwap {
            guard evidence(fact, reference).isEmpty, let run = good.first(where: { $0.evidence[fact] != nil }),
                let event = run.evidence[fact], let counterpart = counterpart(of: event, run, reference)
            else { continue }
            let (lane, count) = (reference.events[counterpart].lane, reference.events.count)
            add(reference.events[(counterpart + 1)...].firstIndex { $0.lane == lane } ?? count, lane)
        }
        return places
    }

    /// The event before one on its lane that another run has too.
    func counterpart(of event: Int, _ run: RunFacts, _ other: RunFacts) -> Int? {
        let before = sequence(first: event) { run.events[$0].before }.dropFirst()
        return before.lazy.compactMap { other.occurrences[run.events[$0].text]?.first }.first { _ in true }
    }
}
