internal import DistributedNotifications
internal import NATSClient
internal import NIOCore
internal import ThreadedNotifications

/// The messages of NATS's event loop for the bridge's thread, which it wakes.
final class BridgeMail: Sendable {
    let wake: EventDescriptor
    private let contents: Locked<Contents>

    struct Contents {
        /// The present connection to NATS.
        var link: NATSLink?
        /// Numbers of published posts.
        var finished: [UInt64] = []
        /// Why a post was not taken.
        var refusal: String?
        /// Numbers of posts that will never be taken.
        var unusable: [UInt64] = []
        var inbound: InboundPosts
        /// The last operation that NATS denied over the present connection.
        var denial: String?
        /// Why there is no connection.
        var linkProblem: String?
        var isStopping = false
    }

    /// - Throws: `.pathNotUsable` if the process has no descriptor left.
    init(_ inbound: InboundPosts, directory: ServerDirectory) throws(DistributedError) {
        guard let wake = EventDescriptor() else {
            throw .pathNotUsable(path: directory.socketPath, problem: "this process has no file descriptor left")
        }
        (self.wake, contents) = (wake, Locked(Contents(inbound: inbound)))
    }

    /// Changes the contents, without waking.
    func change<Value: Sendable>(_ body: (inout Contents) -> Value) -> Value { contents.withLock { body(&$0) } }

    /// Wakes the thread if something has arrived.
    func wakeIfNeeded() {
        let isNeeded = change {
            !$0.inbound.isEmpty || !$0.finished.isEmpty || !$0.unusable.isEmpty || $0.refusal != nil
        }
        if isNeeded { wake.makeReady() }
    }

    func post(_ body: (inout Contents) -> Void) {
        contents.withLock { body(&$0) }
        wake.makeReady()
    }
}

/// A connection to NATS over which posts are published.
struct NATSLink: Sendable {
    let connection: NATSConnection
    /// Counted from 1.
    let number: Int
    /// With the number of a post it is the subject of JetStream's acknowledgement; nil: nothing acknowledges.
    let acknowledgements: String?
}
