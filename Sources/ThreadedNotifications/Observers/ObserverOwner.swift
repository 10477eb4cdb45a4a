/// What an observer was added to, and what removes it.
protocol ObserverOwner: AnyObject, Sendable {
    /// - Returns: whether the observer was there.
    @discardableResult
    func remove(_ observer: Observer) -> Bool
}
