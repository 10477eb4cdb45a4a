package import DistributedNotifications

extension SuspensionBehavior {
    /// The name on a command line.
    package var commandLineName: String { self == .deliverImmediately ? "deliver-immediately" : rawValue }
}
