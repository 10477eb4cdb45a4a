/// How much a center holds in this process, and how long it waits.
public struct ClientLimits: Sendable, Hashable {
    /// How many bytes of notifications may wait for the process's threads. Each notification counts as its bytes on the
    /// wire, 64 for each value of its userInfo, and 256. Notifications beyond the limit are dropped, counted, and
    /// reported as a gap.
    public var waitingBytes = Wire.waitingByteLimit
    /// How long a post waits for a connection, or for a server that does not read.
    public var postTimeout = Wire.postTimeout

    public init() {}
}
