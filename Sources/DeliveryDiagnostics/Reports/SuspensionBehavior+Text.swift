package import DistributedNotifications

extension SuspensionBehavior {
    /// As it is written on a command line.
    package var commandLineName: String { self == .deliverImmediately ? "deliver-immediately" : rawValue }
}
