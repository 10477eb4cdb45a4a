/// How much a center holds and how long it waits.
public struct ClientLimits: Sendable, Hashable {
    /// What may wait for the process's threads, in bytes: each notification counts as its bytes on the wire, 64 for each value of its
    /// userInfo, and 256. More is dropped, counted, and shown as a gap.
    public var waitingBytes = 16 << 20
    /// How long a post waits for a server, and for one that does not read.
    public var postLimit = Duration.seconds(5)

    public init() {}
}
