/// The state of a center's connection to its server.
public enum ConnectionState: Sendable, Hashable {
    /// The center has not been used.
    case unused
    /// The center is looking for a server, or starting one.
    case connecting
    case connected(serverProcess: Int32)
    /// The last attempt to connect failed. The center tries again.
    case failed(DistributedError)
    case closed
}
