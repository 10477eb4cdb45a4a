/// The options of scenarios. Each scenario lists the ones that it uses.
package struct ScenarioOptions: Sendable, Hashable {
    package enum Name: String, Sendable, Hashable, CaseIterable {
        case posters
        case notifications
        case dropSignals = "drop-signals"
        case seed
        case capture
    }

    /// The number of posting threads, 1 to 256.
    package var posters: Int
    /// The number of notifications that all threads post together, 1 to 1,000,000.
    package var notifications: Int?
    /// The probability with which a signal is lost, 0 to 1.
    package var dropSignals: Double
    /// The seed of the generator that decides which signals are lost.
    package var seed: UInt64
    /// How the handler's block holds the observer. Nil means each way, one after the other.
    package var capture: ObserverCapture?

    /// - Throws: `ScenarioError.optionOutOfRange` for the first value out of range.
    package func validate(maximalNotifications: Int = 1_000_000) throws(ScenarioError) {
        try check(.posters, posters, 1...256, "1 to 256")
        if let notifications {
            try check(.notifications, notifications, 1...maximalNotifications, "1 to \(maximalNotifications)")
        }
        try check(.dropSignals, dropSignals, 0...1, "0 to 1")
    }

    private func check<Value: Comparable>(
        _ option: Name, _ value: Value, _ range: ClosedRange<Value>, _ description: String
    ) throws(ScenarioError) {
        guard range.contains(value) else {
            throw .optionOutOfRange(option: "--\(option.rawValue)", value: "\(value)", range: description)
        }
    }

    package init(
        posters: Int = 4, notifications: Int? = nil, dropSignals: Double = 0.9, seed: UInt64 = 1,
        capture: ObserverCapture? = nil
    ) {
        self.posters = posters
        self.notifications = notifications
        self.dropSignals = dropSignals
        self.seed = seed
        self.capture = capture
    }
}
