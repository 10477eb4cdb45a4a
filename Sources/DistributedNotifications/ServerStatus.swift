/// The state of a server.
///
/// Each post counts once for each process with an observer that matches it. At any time, for each process and for the
/// server, `matched` is the sum of `delivered`, `dropped`, `discarded`, `coalesced`, `suppressed`, `removed`, and the
/// notifications that are held. What became of the notifications for a process that has ended stays in the server's
/// numbers.
public struct ServerStatus: Sendable, Hashable, Codable {
    /// Its process id.
    public var process: Int32
    public var directory: String
    /// The time since it started.
    public var nanoseconds: Int64
    public var posted: Int
    public var matched: Int
    /// Sent, or waiting to be read.
    public var delivered: Int
    /// Not sent because the process read too slowly. The process is told the number.
    public var dropped: Int
    /// Not held, or not any longer, because too many were held. The process is told the number.
    public var discarded: Int
    /// Held for observers that coalesce, and replaced by later ones.
    public var coalesced: Int
    /// Posted while the process was suspended, for observers that drop only.
    public var suppressed: Int
    /// Held until their observers were removed, or until the process ended.
    public var removed: Int
    /// Notifications that are held for suspended processes, and their bytes.
    public var heldEntries: Int
    public var heldBytes: Int
    /// In the order in which they connected.
    public var clients: [Client]

    /// A connected process, or one for which notifications are kept although its connection has ended.
    public struct Client: Sendable, Hashable, Codable {
        /// Its process id, or that of its last connection.
        public var process: Int32
        /// The name that it gave.
        public var name: String
        /// False for a bridge to other machines that has ended: what it observes waits until it connects again.
        public var isConnected: Bool
        public var isSuspended: Bool
        /// What it says of itself, as a bridge to other machines does.
        public var details: [String: String]
        /// Posted by it. The other numbers are of notifications for it.
        public var posted: Int
        public var matched: Int
        public var delivered: Int
        public var dropped: Int
        public var discarded: Int
        public var coalesced: Int
        public var suppressed: Int
        public var removed: Int
        /// Bytes that wait to be read by it.
        public var waitingBytes: Int
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
