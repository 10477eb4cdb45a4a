package import DistributedNotifications

extension DistributedError {
    /// The cause, or else the whole message.
    package var problem: String { cause ?? description }
    package var name: String? { notification }
}
