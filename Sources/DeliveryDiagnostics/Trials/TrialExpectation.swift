/// What is seen in a trial if a promise is kept.
struct TrialExpectation: Sendable, Hashable {
    /// The words of what happens.
    var events: [String]
    /// Whether the order of the events is promised.
    var isOrdered = true

    /// Whether what was seen is what is expected: a function of nothing else. Details do not count.
    func verdict(on observation: TrialObservation) -> TrialVerdict {
        isMet(by: observation) ? .kept : .broken("\(arranged(observation))")
    }

    private func isMet(by observation: TrialObservation) -> Bool {
        let (words, expected) = (observation.events.map(\.words), events)
        return observation.end == .normal && (isOrdered ? words == expected : words.sorted() == expected.sorted())
    }

    /// Without an order where none is promised.
    func arranged(_ observation: TrialObservation) -> TrialObservation {
        var observation = observation
        if !isOrdered { observation.events.sort { $0.words < $1.words } }
        return observation
    }
}
