internal import DistributedNotifications
internal import NATSClient
internal import NIOCore

/// The posts that came from NATS and are about to be posted on this machine: a pure value.
struct InboundPosts {
    struct Batch {
        /// For the local server.
        var frames = ByteBuffer()
        var count = 0
        /// With the last message of the stream.
        var position: StreamPosition?
        /// Requests of flow control, to be answered when all is posted.
        var answers: [String] = []
    }

    private let bridge: UInt64
    /// As UTF-8.
    private let names: Set<[UInt8]>
    private var continuity = Continuity()
    private var batch = Batch()
    private(set) var invalid = 0
    private(set) var missing = 0
    /// The problem of the last invalid one.
    private(set) var problem: String?

    /// How many messages came from consumers of the stream, with their heartbeats.
    private(set) var heard = 0
    /// Of the last message of the stream that was received.
    private var position: StreamPosition?
    /// The sequence number of the consumer's last message; nil: another consumer must begin.
    private var lastOfConsumer: UInt64?

    init(bridge: UInt64, names: [String]) { (self.bridge, self.names) = (bridge, Set(names.map { Array($0.utf8) })) }

    /// Another local server posts from now on.
    /// - Parameter position: of the last message of the stream that was posted.
    mutating func restart(position: StreamPosition?) {
        (self.position, continuity, batch, lastOfConsumer) = (position, Continuity(), Batch(), nil)
    }

    /// The posts since the last batch.
    mutating func take() -> Batch? {
        if batch.count == 0, batch.position == nil, batch.answers.isEmpty { return nil }
        defer { batch = Batch() }
        return batch
    }

    mutating func receive(_ message: NATSMessage) {
        message.payload.withUnsafeReadableBytes { bytes in
            do throws(WireError) {
                try receive(try BridgedPost(bytes))
            } catch {
                invalid += 1
                problem = "a message from NATS is \(error)"
            }
        }
    }

    private mutating func receive(_ post: BridgedPost) throws(WireError) {
        guard post.bridge != bridge, names.contains(Array(post.payload.name)) else { return }
        guard case .new(let missing) = continuity.receive(post.payload) else { return }
        self.missing += missing
        batch.frames.writeInteger(UInt32(post.bytes.count + 1), endianness: .little)
        batch.frames.writeInteger(FrameKind.post.rawValue)
        batch.frames.writeBytes(post.bytes)
        batch.count += 1
    }

    // MARK: A stream

    /// Begins to receive from a new consumer of a stream.
    /// - Returns: the sequence number after which this bridge goes on to read.
    mutating func resume(_ stream: NATSConnection.Stream) -> UInt64 {
        // A bridge that never read the stream begins with the next message.
        var position = position ?? StreamPosition(created: stream.created, last: stream.state.lastSeq)
        if position.created != stream.created {
            position = StreamPosition(created: stream.created, last: max(stream.state.firstSeq, 1) - 1)
        }
        // NATS may have lost the last messages when it was killed.
        position.last = min(position.last, stream.state.lastSeq)
        (self.position, batch.position, lastOfConsumer) = (position, position, 0)
        return position.last
    }

    /// Receives a message of a stream's consumer.
    /// - Returns: false if one before it was lost. Then another consumer must begin.
    mutating func receiveDelivery(_ message: NATSMessage) -> Bool {
        heard += 1
        switch JetStreamDelivery(message) {
        case .message(let streamSequence, let consumerSequence):
            guard let last = lastOfConsumer, consumerSequence == last + 1 else { return false }
            lastOfConsumer = consumerSequence
            receive(message)
            position?.last = streamSequence
            batch.position = position
        case .flowControl(let subject): batch.answers.append(subject)
        case .heartbeat(let last, let subject):
            if let subject { batch.answers.append(subject) }
            return last == lastOfConsumer
        case nil: break
        }
        return true
    }
}

/// How far a bridge has read a stream.
struct StreamPosition: Codable, Equatable, Sendable {
    /// When the stream was created, as NATS says it; it tells another stream with the same name.
    var created: String
    /// The last sequence number that was read.
    var last: UInt64
}
