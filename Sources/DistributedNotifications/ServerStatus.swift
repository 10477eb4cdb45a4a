/// What a server tells of itself when it is asked.
public struct ServerStatus: Sendable, Hashable, Codable {
    public var processID: Int32
    public var directory: String
    /// How long it has run, in seconds.
    public var seconds: Double
    /// Notifications that were posted, and copies of them that were handed to processes.
    public var posted: Int
    public var delivered: Int
    /// Dropped for processes that did not read as fast, and discarded from full queues of suspended ones.
    public var dropped: Int
    public var discarded: Int
    /// Held for suspended processes.
    public var heldBytes: Int
    /// In the order in which they connected.
    public var clients: [Client]

    /// A process that is connected.
    public struct Client: Sendable, Hashable, Codable {
        public var processID: Int32
        /// As it calls itself.
        public var name: String
        public var isSuspended: Bool
        public var posted: Int
        public var delivered: Int
        public var dropped: Int
        public var discarded: Int
        /// Waits to be read by it.
        public var waitingBytes: Int
        /// Held for it while it is suspended.
        public var heldEntries: Int
        public var heldBytes: Int
        /// In the order in which they were added.
        public var observers: [Observer]
    }

    /// An observer's registration. Nil is any.
    public struct Observer: Sendable, Hashable, Codable {
        public var name: String?
        public var object: String?
        public var behavior: SuspensionBehavior
    }
}
