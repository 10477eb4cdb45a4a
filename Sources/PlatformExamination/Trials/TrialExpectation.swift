/// The events of a trial if the promise is kept.
struct TrialExpectation: Sendable, Hashable {
    /// The words of the expected events.
    var events: [String]
    /// True if the order of the events is promised.
    var isOrdered = true

    /// Compares an observation with the expectation. Details are ignored.
    func verdict(on observation: TrialObservation) -> TrialVerdict {
        matches(observation) ? .kept : .broken("\(arranged(observation))")
    }

    private func matches(_ observation: TrialObservation) -> Bool {
        let (words, expected) = (observation.events.map(\.words), events)
        return observation.end == .normal && (isOrdered ? words == expected : words.sorted() == expected.sorted())
    }

    /// Returns the observation with its events sorted if no order is promised.
    func arranged(_ observation: TrialObservation) -> TrialObservation {
        var observation = observation
        if !isOrdered { observation.events.sort { $0.words < $1.words } }
        return observation
    }
}
