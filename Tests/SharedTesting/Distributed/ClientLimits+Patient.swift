package import DistributedNotifications

extension ClientLimits {
    /// For tests that do not test the timeout of a post, because a server may start slowly on a busy machine.
    package static var patient: ClientLimits {
        var limits = ClientLimits()
        limits.postTimeout = TestTimeout.hang
        return limits
    }
}
