internal import NIOCore

/// A message of a stream's consumer.
package enum JetStreamDelivery {
    /// Messages are counted from 1 by each consumer. After a jump, one has been lost on the way to this client.
    case message(streamSequence: UInt64, consumerSequence: UInt64)
    /// The last message that it delivered. It may wait for an answer to flow control that was lost: an empty message to
    /// `answerTo`.
    case heartbeat(consumerSequence: UInt64, answerTo: String?)
    /// It waits for an empty message to `answerTo`, when everything before has been handled.
    case flowControl(answerTo: String)

    /// - Returns: nil if the message is not from a consumer.
    package init?(_ message: NATSMessage) {
        let reply = message.reply
        if message.status != "100" {
            // $JS.ACK.<stream>.<consumer>.<delivered>.<stream sequence>.<consumer sequence>.<time>.<pending>. Later
            // servers put a domain and an account before the stream, and perhaps a word at the end.
            guard let reply, reply.starts(with: "$JS.ACK.".utf8) else { return nil }
            let words = reply.split(separator: UInt8(ascii: "."), maxSplits: 12, omittingEmptySubsequences: false)
            guard [9, 11, 12].contains(words.count) else { return nil }
            let first = words.count == 9 ? 5 : 7
            guard let stream = decimal(words[first]), let consumer = decimal(words[first + 1]) else { return nil }
            self = .message(streamSequence: UInt64(stream), consumerSequence: UInt64(consumer))
        } else if let reply {
            self = .flowControl(answerTo: String(decoding: reply, as: UTF8.self))
        } else {
            let last = message.header("Nats-Last-Consumer").flatMap { UInt64($0) } ?? 0
            self = .heartbeat(consumerSequence: last, answerTo: message.header("Nats-Consumer-Stalled"))
        }
    }
}
