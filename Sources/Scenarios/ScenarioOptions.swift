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
    package var posters = 4
    /// The number of notifications that all threads post together. Nil means the scenario's own number.
    package var notifications: Int?
    /// The probability with which a signal is lost, 0 to 1.
    package var dropSignals = 0.9
    /// The seed of the generator that decides which signals are lost.
    package var seed: UInt64 = 1
    /// How the handler's block holds the observer. Nil means each way, one after the other.
    package var capture: ObserverCapture?

    package init(notifications: Int? = nil, capture: ObserverCapture? = nil) {
        (self.notifications, self.capture) = (notifications, capture)
    }

    func validate(maximalNotifications: Int) throws(ScenarioError) {
        try check(.posters, posters, 1...256, "1 to 256")
        try check(.notifications, notifications ?? 1, 1...maximalNotifications, "1 to \(maximalNotifications)")
        try check(.dropSignals, dropSignals, 0...1, "0 to 1")
    }

    private func check<Value: Comparable>(
        _ option: Name, _ value: Value, _ range: ClosedRange<Value>, _ description: String
    ) throws(ScenarioError) {
        guard range.contains(value) else {
            throw .optionOutOfRange(option: "--\(option.rawValue)", value: "\(value)", range: description)
        }
    }
}
