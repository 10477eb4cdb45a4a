package import DistributedNotifications

extension ClientLimits {
    /// For tests that do not test the timeout of a post: on a busy machine a server may start slowly.
    package static var patient: ClientLimits {
        var limits = ClientLimits()
        limits.postTimeout = TestLimit.hang
        return limits
    }
}
