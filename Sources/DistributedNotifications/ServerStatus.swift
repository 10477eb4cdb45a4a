/// The state of a server.
public struct ServerStatus: Sendable, Hashable, Codable {
    /// Its process id.
    public var process: Int32
    public var directory: String
    /// The time since it started.
    public var nanoseconds: Int64
    /// Posted notifications, and the copies of them that were sent to processes.
    public var posted: Int
    public var delivered: Int
    /// Notifications dropped for processes that read too slowly, and discarded from full queues of suspended processes.
    public var dropped: Int
    public var discarded: Int
    /// Bytes held for suspended processes.
    public var heldBytes: Int
    /// In the order in which they connected.
    public var clients: [Client]

    /// A connected process.
    public struct Client: Sendable, Hashable, Codable {
        /// Its process id.
        public var process: Int32
        /// The name that it gave.
        public var name: String
        public var isSuspended: Bool
        public var posted: Int
        public var delivered: Int
        public var dropped: Int
        public var discarded: Int
        /// Bytes that wait to be read by it.
        public var waitingBytes: Int
        /// Notifications, and their bytes, that are held while it is suspended.
        public var heldEntries: Int
        public var heldBytes: Int
        /// In the order in which they were added.
        public var observers: [Observer]
    }

    /// An observer. A nil name or object matches all.
    public struct Observer: Sendable, Hashable, Codable {
        public var name: String?
        public var object: String?
        public var behavior: SuspensionBehavior
    }
}
