/// How a center stands with its server.
public enum ConnectionState: Sendable, Hashable {
    /// Nothing was observed or posted yet.
    case unused
    /// A server is being looked for, or started.
    case connecting
    case connected(serverProcess: Int32)
    /// The last attempt failed; it goes on trying.
    case failed(DistributedError)
    case closed
}
