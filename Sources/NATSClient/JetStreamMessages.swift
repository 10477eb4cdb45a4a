internal import NIOCore

/// JetStream's answer to a message that it has stored.
package struct JetStreamAcknowledgement: Hashable, Sendable {
    package let sequence: UInt64
    /// The stream had a message with this Nats-Msg-Id already.
    package let isDuplicate: Bool

    /// - Parameter subject: of the message.
    /// - Throws: why JetStream has not stored it.
    package init(_ message: NATSMessage, subject: String) throws(NATSError) {
        guard message.status != 503 else {
            throw NATSError(
                .noResponders,
                "No stream of JetStream takes what is published to \(NATSError.quoted(subject.utf8)). Add it to the "
                    + "subjects of the stream.")
        }
        if let sequence = Self.plainSequence(message.payload.readableBytesView) {
            (self.sequence, isDuplicate) = (sequence, false)
            return
        }
        struct Answer: Decodable {
            var seq: UInt64
            var duplicate: Bool?
        }
        let answer: Answer = try JetStream.decode(message, subject)
        (sequence, isDuplicate) = (answer.seq, answer.duplicate ?? false)
    }

    /// `{"stream":"NAME","seq":NUMBER}`, which nearly all answers are, without a JSON decoder.
    private static func plainSequence(_ json: ByteBufferView) -> UInt64? {
        let (begin, middle) = (#"{"stream":""#.utf8, #"","seq":"#.utf8)
        guard json.starts(with: begin), json.last == UInt8(ascii: "}") else { return nil }
        let rest = json.dropFirst(begin.count).drop { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
        return rest.starts(with: middle) ? decimal(rest.dropFirst(middle.count).dropLast()) : nil
    }
}

/// Where a message of a consumer is from, as its reply subject says.
package struct JetStreamDelivery: Hashable, Sendable {
    package let streamSequence: UInt64
    /// Counted from 1 by each consumer. After a jump, a message has been lost on the way to this client.
    package let consumerSequence: UInt64
    /// So many more are still to be delivered.
    package let pending: UInt64

    /// - Returns: nil if the message is not from a consumer.
    package init?(_ message: NATSMessage) {
        guard let reply = message.replyBytes else { return nil }
        self.init(reply: reply)
    }

    /// `$JS.ACK.<stream>.<consumer>.<delivered>.<stream sequence>.<consumer sequence>.<time>.<pending>`; later servers put
    /// a domain and an account before the stream, and perhaps a word at the end.
    init?(reply: some Collection<UInt8>) {
        let words = reply.split(separator: UInt8(ascii: "."), maxSplits: 12, omittingEmptySubsequences: false)
        guard [9, 11, 12].contains(words.count), words[0].elementsEqual("$JS".utf8), words[1].elementsEqual("ACK".utf8)
        else { return nil }
        let stream = words.count == 9 ? 2 : 4
        guard let streamSequence = decimal(words[stream + 3]), let consumerSequence = decimal(words[stream + 4]),
            let pending = decimal(words[stream + 6])
        else { return nil }
        (self.streamSequence, self.consumerSequence, self.pending) = (streamSequence, consumerSequence, pending)
    }
}

/// What a consumer says between the messages.
package enum JetStreamControl: Hashable, Sendable {
    /// What it delivered last. It may wait for an answer to flow control that was lost: an empty message to `answerTo`.
    case heartbeat(streamSequence: UInt64, consumerSequence: UInt64, answerTo: String?)
    /// It waits for an empty message to `answerTo`, when everything before has been handled.
    case flowControl(answerTo: String)

    /// - Returns: nil if it is another message.
    package init?(_ message: NATSMessage) {
        guard message.status == 100 else { return nil }
        func number(_ header: String) -> UInt64 { message.header(header).flatMap { decimal($0.utf8) } ?? 0 }
        self =
            message.reply.map { .flowControl(answerTo: $0) }
            ?? .heartbeat(
                streamSequence: number("Nats-Last-Stream"), consumerSequence: number("Nats-Last-Consumer"),
                answerTo: message.header("Nats-Consumer-Stalled"))
    }
}
