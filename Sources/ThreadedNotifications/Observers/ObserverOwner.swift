/// The center, or other collection, to which an observer was added.
protocol ObserverOwner: AnyObject, Sendable {
    /// - Returns: whether the observer was there.
    @discardableResult
    func remove(_ observer: Observer) -> Bool
}
