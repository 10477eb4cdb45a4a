import DistributedNotifications

extension SuspensionBehavior {
    /// The name on a command line.
    var commandLineName: String { self == .deliverImmediately ? "deliver-immediately" : rawValue }
}
