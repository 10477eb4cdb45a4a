internal import DistributedNotifications
internal import NATSClient
internal import NIOCore

/// The posts that came from NATS and wait to be posted on this machine: a pure value.
struct InboundPosts {
    /// The outcome of one message.
    enum Outcome: Equatable {
        case accepted
        /// It is of this bridge, of a name that was not asked for, or came before.
        case ignored
        case invalid(String)
        /// Too much waits.
        case full
    }

    struct Batch {
        /// Frames for the local server.
        var frames: [UInt8] = []
        var count = 0
        /// With the last message of the stream.
        var position: StreamPosition?
        /// Requests of flow control, to be answered when all is posted.
        var answers: [String] = []

        var isEmpty: Bool { frames.isEmpty && position == nil && answers.isEmpty }
    }

    private let bridge: UInt64
    /// As UTF-8.
    private let names: Set<[UInt8]>
    private var lastName: [UInt8] = []
    private var continuity = Continuity()
    /// Full ones, the oldest first, and one that is being filled.
    private var batches: [Batch] = []
    private var waiting = Batch()
    private(set) var invalid = 0
    private(set) var missing = 0
    /// The problem of the last invalid one.
    private(set) var problem: String?

    /// How many messages came from consumers of the stream, with their heartbeats.
    private(set) var heard = 0
    /// Of the last message of the stream that was received.
    private var position: StreamPosition?
    /// The link whose messages are received, and the last sequence number of its consumer. After a jump there is none.
    private var link: (number: Int, last: UInt64)?

    /// A local server, however busy, is to read a batch of so many bytes in time.
    static let batchBytes = 256 << 10
    static let batchLimit = 32

    /// - Parameter position: of the last message of the stream that was posted.
    init(bridge: UInt64, names: [String], position: StreamPosition? = nil) {
        self.bridge = bridge
        self.names = Set(names.map { Array($0.utf8) })
        self.position = position
    }

    var isEmpty: Bool { batches.isEmpty && waiting.isEmpty }

    /// The oldest batch; an empty one if nothing waits.
    mutating func take() -> Batch {
        if !batches.isEmpty { return batches.removeFirst() }
        defer { waiting = Batch() }
        return waiting
    }

    /// A message without a stream.
    mutating func receive(_ message: UnsafeRawBufferPointer) -> Outcome {
        if waiting.frames.count >= Self.batchBytes {
            guard batches.count < Self.batchLimit else { return .full }
            batches.append(waiting)
            waiting = Batch()
        }
        do throws(WireError) {
            let post = try BridgedPost(message)
            guard post.bridge != bridge, isAskedFor(post.payload.name) else { return .ignored }
            switch continuity.receive(post.payload) {
            case .duplicate: return .ignored
            case .new(let missing): self.missing += missing
            }
            withUnsafeBytes(of: UInt32(post.bytes.count + 1).littleEndian) {
                waiting.frames += $0.bindMemory(to: UInt8.self)
            }
            waiting.frames.append(FrameKind.post.rawValue)
            waiting.frames += post.bytes.bindMemory(to: UInt8.self)
            waiting.count += 1
            return .accepted
        } catch {
            invalid += 1
            problem = "a message from NATS is \(error)"
            return .invalid("\(error)")
        }
    }

    /// Most posts have the name of the one before.
    private mutating func isAskedFor(_ name: UnsafeRawBufferPointer) -> Bool {
        if lastName.elementsEqual(name) { return true }
        guard names.contains(Array(name)) else { return false }
        lastName = Array(name)
        return true
    }

    // MARK: A stream

    /// - Parameters:
    ///   - first: the sequence number of the stream's first message.
    ///   - last: that of its last one; less than `first` if it is empty.
    /// - Returns: the sequence number after which this bridge goes on to read.
    mutating func resume(created: String, first: UInt64, last: UInt64) -> UInt64 {
        // A bridge that never read the stream begins with what is posted from now on.
        var position = position ?? StreamPosition(created: created, last: last)
        if position.created != created {
            position = StreamPosition(created: created, last: first > 0 ? first - 1 : 0)
        }
        // NATS may have lost the last messages when it was killed.
        position.last = min(position.last, last)
        (self.position, waiting.position) = (position, position)
        return position.last
    }

    mutating func begin(link number: Int) { link = (number, 0) }

    /// A message of a stream's consumer.
    /// - Returns: false if one before it was lost, or it cannot be kept: then nothing more of this link is received.
    mutating func receive(_ message: NATSMessage, over number: Int) -> Bool {
        guard let link, link.number == number else { return true }
        heard += 1
        switch JetStreamDelivery(message) {
        case .message(let streamSequence, let consumerSequence):
            let outcome = message.payload.withUnsafeReadableBytes { bytes in
                consumerSequence == link.last + 1 ? receive(bytes) : .full
            }
            if outcome == .full {
                self.link = nil
                return false
            }
            self.link = (number, consumerSequence)
            position?.last = streamSequence
            waiting.position = position
        case .flowControl(let subject): waiting.answers.append(subject)
        case .heartbeat(let last, let subject):
            if let subject { waiting.answers.append(subject) }
            if last == link.last { return true }
            self.link = nil
            return false
        case nil: break
        }
        return true
    }
}
