/// The center, or other collection, to which an observer was added.
protocol ObserverOwner: AnyObject, Sendable {
    /// - Parameter reason: for events.
    /// - Returns: whether the observer was there.
    @discardableResult
    func remove(_ observer: Observer, _ reason: DeliveryEvent.Reason?) -> Bool
}
