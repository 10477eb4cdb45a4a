/// An action of `DelayQueue`.
protocol DelayedAction: AnyObject, Sendable {
    /// Called on the delay queue. It returns soon.
    func delayHasPassed()
}
