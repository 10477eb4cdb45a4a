internal import NIOCore

/// The requests of JetStream, as NATS 2.9 understands them.
package struct JetStream: Sendable {
    package struct Stream: Decodable, Sendable {
        package var config: Configuration
        package var state: State
        /// When. Another stream with the same name has another time.
        package var created: String
    }

    /// A stream that keeps messages in files until they are too many or too old; then the oldest go.
    package struct Configuration: Codable, Sendable {
        package var name: String
        package var subjects: [String]
        /// -1: no limit.
        package var maxBytes = -1
        /// In nanoseconds; 0: no limit.
        package var maxAge = 0
        package private(set) var storage = "file"
        package private(set) var discard = "old"

        package init(name: String, subjects: [String]) {
            (self.name, self.subjects) = (name, subjects)
        }
    }

    package struct State: Decodable, Sendable {
        package var messages: UInt64
        package var bytes: UInt64
        package var firstSeq: UInt64
        package var lastSeq: UInt64
    }

    package struct Consumer: Decodable, Sendable {
        package var name: String
        /// So many messages are still to be delivered.
        package var numPending: UInt64
    }

    /// What a new consumer delivers: what comes from now on, everything, or everything from a sequence number on.
    package enum Start: Hashable, Sendable {
        case new, all
        case sequence(UInt64)
    }

    private struct Nothing: Encodable {}

    private struct Refusal: Decodable {
        struct Reason: Decodable {
            var code: Int
            var errCode: Int?
            var description: String?
        }
        var error: Reason
    }

    package let connection: NATSConnection
    package let timeout: Duration

    package init(_ connection: NATSConnection, timeout: Duration = .seconds(5)) {
        (self.connection, self.timeout) = (connection, timeout)
    }

    /// - Returns: nil if the stream does not exist.
    package func stream(_ name: String) async throws(NATSError) -> Stream? {
        do {
            return try await ask("STREAM.INFO.\(name)", Nothing())
        } catch  where error.number == 10059 {
            return nil
        }
    }

    /// Creates a stream. Succeeds if it exists with the same configuration.
    package func createStream(_ configuration: Configuration) async throws(NATSError) -> Stream {
        try await ask("STREAM.CREATE.\(configuration.name)", configuration)
    }

    /// Creates a consumer that delivers in order to a subject, which has to be subscribed to before. It needs no
    /// acknowledgements, has flow control and heartbeats, and ends some time after the last subscriber.
    package func createConsumer(
        of stream: String, deliverTo subject: String, start: Start, filter: String? = nil,
        heartbeat: Duration = .seconds(5), inactiveThreshold: Duration = .seconds(30)
    ) async throws(NATSError) -> Consumer {
        struct Request: Encodable {
            var streamName: String
            var config: Configuration
        }
        struct Configuration: Encodable {
            var deliverSubject: String
            var deliverPolicy: String
            var optStartSeq: UInt64?
            var filterSubject: String?
            var idleHeartbeat: Int64
            var inactiveThreshold: Int64
            var ackPolicy = "none"
            var replayPolicy = "instant"
            var flowControl = true
            var memStorage = true
            var numReplicas = 1
        }
        let (policy, first): (String, UInt64?) =
            switch start {
            case .new: ("new", nil)
            case .all: ("all", nil)
            case .sequence(let number): ("by_start_sequence", max(number, 1))
            }
        let configuration = Configuration(
            deliverSubject: subject, deliverPolicy: policy, optStartSeq: first, filterSubject: filter,
            idleHeartbeat: TimeAmount(heartbeat).nanoseconds,
            inactiveThreshold: TimeAmount(inactiveThreshold).nanoseconds)
        return try await ask("CONSUMER.CREATE.\(stream)", Request(streamName: stream, config: configuration))
    }

    package func deleteConsumer(_ name: String, of stream: String) async throws(NATSError) {
        struct Answer: Decodable {
            var success: Bool
        }
        let _: Answer = try await ask("CONSUMER.DELETE.\(stream).\(name)", Nothing())
    }

    private func ask<Answer: Decodable>(_ request: String, _ body: some Encodable) async throws(NATSError) -> Answer {
        let subject = "$JS.API.\(request)"
        let payload = ByteBuffer(bytes: body is Nothing ? [] : NATSJSON.encode(body))
        return try Self.decode(try await connection.request(subject, payload, timeout: timeout), subject)
    }

    /// The answer to a request, or the error that it says.
    static func decode<Answer: Decodable>(_ message: NATSMessage, _ subject: String) throws(NATSError) -> Answer {
        let json = message.payload.readableBytesView
        if let reason = NATSJSON.decode(Refusal.self, from: json)?.error {
            let (text, number) = (NATSError.quoted((reason.description ?? "").utf8), reason.errCode ?? reason.code)
            throw NATSError(.refused, "JetStream refused a request to \(subject): \(text) (\(number)).", number: number)
        }
        guard let answer = NATSJSON.decode(Answer.self, from: json) else {
            throw NATSError(
                .refused, "JetStream answered to \(subject) what is not understood: \(NATSError.quoted(json)).")
        }
        return answer
    }
}
