package import DistributedNotifications

extension ClientLimits {
    /// For a test that is not about the limit of a post: on a busy machine a server may take long to start.
    package static var patient: ClientLimits {
        var limits = ClientLimits()
        limits.postTimeout = TestLimit.hang
        return limits
    }
}
