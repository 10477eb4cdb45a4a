/// What is true of all bad runs and of no good one, or the reverse; if nothing is, what differs most.
///
/// Cost: a few passes over the facts of all runs, and one over the pairs of at most 1,000 texts that occur once.
struct RunAnswers {
    /// What an answer is about, best first.
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
        /// What is true of the other runs in its place.
        var opposite: RunFact?
        var good: Rate
        var bad: Rate
        /// Where it is in a bad run: for each lane the position.
        fileprivate(set) var places: [String: Int] = [:]

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
    private static let maximumOrders = 10_000

    init(good: [RunFacts], bad: [RunFacts], _ texts: FactTexts) {
        (self.good, self.bad, self.texts) = (good, bad, texts)
        var all = facts() + orders()
        if all.contains(where: \.isCertain) { all.removeAll { !$0.isCertain } }
        all = Self.merged(all)
        for index in all.indices { all[index].places = places(all[index]) }
        let known = all.map { ($0, $0.places.values.min() ?? .max) }
        let sorted = known.sorted { one, other in
            let keys = (one.0.difference, other.0.difference)
            if keys.0 != keys.1 { return keys.0 > keys.1 }
            if one.0.kind != other.0.kind { return one.0.kind.rank < other.0.kind.rank }
            if (one.0.opposite == nil) != (other.0.opposite == nil) { return other.0.opposite == nil }
            if one.1 != other.1 { return one.1 < other.1 }
            return texts.clause(one.0.fact) < texts.clause(other.0.fact)
        }
        // A fact that lies only after a better one's on its lane is its consequence.
        var earliest: [String: Int] = [:]
        for (answer, _) in sorted {
            let isConsequence =
                !answer.places.isEmpty && answer.places.allSatisfy { earliest[$0.key, default: .max] <= $0.value }
            if isConsequence { consequences += 1 } else { answers.append(answer) }
            for (lane, place) in answer.places { earliest[lane] = min(earliest[lane] ?? .max, place) }
        }
    }

    // MARK: Facts

    private func rate(_ fact: RunFact, _ runs: [RunFacts]) -> Rate {
        let known = runs.filter { $0.evidence[fact] != nil || $0.isComplete }
        return Rate(count: known.count { $0.evidence[fact] != nil }, known: known.count)
    }

    private func facts() -> [Answer] {
        let all = (good + bad).reduce(into: Set<RunFact>()) { $0.formUnion($1.evidence.keys) }
        return all.compactMap { fact in
            var answer = Answer(kind: .end, fact: fact, good: rate(fact, good), bad: rate(fact, bad))
            guard answer.difference > 0, answer.good.known > 0, answer.bad.known > 0 else { return nil }
            answer.kind = kind(fact)
            return answer
        }
    }

    private func kind(_ fact: RunFact) -> Kind {
        switch fact {
        case .finding: .finding
        case .occurs(let text, _):
            // Elsewhere in the runs that do not have it there.
            texts[text].deed.isOutcome
                ? .outcome
                : (good + bad).allSatisfy { $0.occurrences[text] != nil || !$0.isComplete } ? .place : .count
        case .repeats: .count
        case .follows: .next
        case .precedes: .order
        case .ends, .end: .end
        }
    }

    /// The texts that occur once in every good run, and change their order in a bad one.
    private func orders() -> [Answer] {
        guard good.count >= Self.leastRunsOfOrder, bad.count >= Self.leastRunsOfOrder, let first = good.first else {
            return []
        }
        func once(_ text: Int, _ run: RunFacts) -> RunFacts.Event? {
            guard let found = run.occurrences[text], found.count == 1 else { return nil }
            let event = run.events[found.first]
            return event.lane == nil ? nil : event
        }
        let candidates = Array(
            first.events.lazy.map(\.text).filter { text in
                good.allSatisfy { once(text, $0) != nil } && bad.contains { once(text, $0) != nil }
            }.prefix(Self.longestOrder))
        let events = (good + bad).map { run in candidates.map { once($0, run) } }
        /// -1, 0 or 1; 0 if the order is not known.
        func order(_ one: Int, _ other: Int, _ run: Int) -> Int {
            guard let first = events[run][one], let second = events[run][other], first.chain != second.chain,
                first.time != second.time
            else { return 0 }
            return first.number < second.number ? -1 : 1
        }
        var found: [Answer] = []
        for one in events[0].indices {
            for other in events[0].indices.dropFirst(one + 1) where found.count < Self.maximumOrders {
                guard good.indices.allSatisfy({ order(one, other, $0) == -1 }) else { continue }
                let orders = bad.indices.map { order(one, other, good.count + $0) }.filter { $0 != 0 }
                let reversed = orders.count { $0 == 1 }
                guard reversed > 0, orders.count >= Self.leastRunsOfOrder else { continue }
                let (text, next) = (events[0][one]?.text ?? 0, events[0][other]?.text ?? 0)
                found.append(
                    Answer(
                        kind: .order, fact: .precedes(next, text), opposite: .precedes(text, next),
                        good: Rate(count: 0, known: good.count), bad: Rate(count: reversed, known: orders.count)))
            }
        }
        return found
    }

    /// A text that is elsewhere, or two that are exchanged, are one answer.
    private static func merged(_ answers: [Answer]) -> [Answer] {
        let certain = answers.filter(\.isCertain)
        var places: [Int: [RunFact]] = [:]
        for answer in certain where !answer.isOfBad && answer.kind == .place {
            if case .occurs(let text, _) = answer.fact { places[text, default: []].append(answer.fact) }
        }
        let others = Set(certain.lazy.filter { !$0.isOfBad }.map(\.fact))
        var (result, used): ([Answer], Set<RunFact>) = ([], [])
        for var answer in answers {
            if answer.isCertain, answer.isOfBad {
                switch answer.fact {
                case .occurs(let text, _) where answer.kind == .place && places[text]?.count == 1:
                    answer.opposite = places[text]?[0]
                case .follows(let text, let after) where others.contains(.follows(after, after: text)):
                    answer.opposite = .follows(after, after: text)
                default: break
                }
                if let opposite = answer.opposite { used.insert(opposite) }
            }
            result.append(answer)
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
        func add(_ event: Int, _ run: RunFacts, isAfter: Bool = false) {
            guard let lane = run.events[event].lane else { return }
            let place = isAfter ? run.events[(event + 1)...].firstIndex { $0.lane == lane } : event
            places[lane] = min(places[lane] ?? .max, place ?? run.events.count)
        }
        guard let reference = bad.first(where: \.isComplete) ?? bad.first else { return [:] }
        let shown = evidence(answer.fact, reference)
        let isSwap = answer.kind == .next && answer.opposite != nil || answer.kind == .order
        // Of two neighbours the second is where it shows.
        for event in isSwap ? shown : shown.suffix(1) { add(event, reference) }
        for fact in [answer.fact, answer.opposite].compactMap(\.self) where !isSwap {
            guard evidence(fact, reference).isEmpty, let run = good.first(where: { $0.evidence[fact] != nil }),
                let event = run.evidence[fact], let counterpart = counterpart(of: event, run, reference)
            else { continue }
            add(counterpart, reference, isAfter: true)
        }
        return places
    }

    /// The event before one on its lane that another run has too.
    func counterpart(of event: Int, _ run: RunFacts, _ other: RunFacts) -> Int? {
        var event = run.events[event].before
        while let number = event {
            if let found = other.occurrences[run.events[number].text] { return found.first }
            event = run.events[number].before
        }
        return nil
    }
}
