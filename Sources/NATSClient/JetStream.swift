internal import NIOCore

/// The requests of JetStream, as NATS 2.9 understands them.
extension NATSConnection {
    package struct Stream: Decodable, Sendable {
        package struct State: Decodable, Sendable {
            package var firstSeq: UInt64
            package var lastSeq: UInt64
        }
        /// When. Another stream with the same name has another time.
        package var created: String
        package var state: State
    }

    /// Finds a stream. If there is none, creates one that keeps messages of these subjects in files, and discards the
    /// oldest of more than `maxBytes`.
    package func openStream(_ name: String, subjects: [String], maxBytes: Int) async throws(NATSError) -> Stream {
        struct Configuration: Encodable {
            var name: String
            var subjects: [String]
            var maxBytes: Int
            var storage = "file"
        }
        do {
            return try await ask("STREAM.INFO.\(name)", [String: String]())
        } catch  where error.number == 10059 {
            let new = Configuration(name: name, subjects: subjects, maxBytes: maxBytes)
            return try await ask("STREAM.CREATE.\(name)", new)
        }
    }

    /// Creates a consumer that delivers the messages of a stream from a sequence number on, in order, to a subject that
    /// was subscribed to before. It needs no acknowledgements, has flow control and heartbeats, and ends some time
    /// after the last subscriber.
    package func createConsumer(
        of stream: String, deliverTo subject: String, from first: UInt64, filter: String,
        heartbeat: Duration = .seconds(5)
    ) async throws(NATSError) {
        struct Configuration: Encodable {
            var deliverSubject: String
            var optStartSeq: UInt64
            var filterSubject: String
            var idleHeartbeat: Int64
            var deliverPolicy = "by_start_sequence"
            var ackPolicy = "none"
            var flowControl = true
            var memStorage = true
        }
        struct Request: Encodable {
            var streamName: String
            var config: Configuration
        }
        struct Consumer: Decodable {}
        let configuration = Configuration(
            deliverSubject: subject, optStartSeq: first, filterSubject: filter,
            idleHeartbeat: TimeAmount(heartbeat).nanoseconds)
        let _: Consumer = try await ask(
            "CONSUMER.CREATE.\(stream)", Request(streamName: stream, config: configuration))
    }

    private func ask<Answer: Decodable>(_ name: String, _ body: some Encodable) async throws(NATSError) -> Answer {
        try await request("$JS.API.\(name)", NATSJSON.encode(body)).answer(to: name)
    }
}

private struct JetStreamRefusal: Decodable {
    struct Reason: Decodable {
        var errCode: Int?
        var description: String?
    }
    var error: Reason
}

extension NATSMessage {
    /// Checks JetStream's answer to a message on a subject.
    /// - Throws: why JetStream has not stored the message.
    package func checkIsStored(_ subject: String) throws(NATSError) {
        struct Answer: Decodable {
            var seq: UInt64
        }
        let json = payload.readableBytesView
        // Nearly all are {"stream":"NAME", "seq":NUMBER}. An error would be an object in it.
        let isPlain = json.starts(with: #"{"stream":"#.utf8) && json.last == UInt8(ascii: "}")
        if isPlain, json.lastIndex(of: UInt8(ascii: "{")) == json.startIndex { return }
        _ = try answer(to: subject) as Answer
    }

    /// The answer to a request, or the error that it says.
    fileprivate func answer<Answer: Decodable>(to request: String) throws(NATSError) -> Answer {
        guard status != "503" else {
            throw NATSError(
                "No JetStream takes \(request). Use nats-server -js, and a stream with such a subject.",
                needsConfiguration: false)
        }
        let json = payload.readableBytesView
        let reason = NATSJSON.decode(JetStreamRefusal.self, from: json)?.error
        if reason == nil, let answer = NATSJSON.decode(Answer.self, from: json) { return answer }
        let text = NATSError.quoted(reason?.description.map { Array($0.utf8) } ?? Array(json))
        // JetStream may not have begun yet.
        throw NATSError(
            "JetStream refused \(request): \(text).", needsConfiguration: false, number: reason?.errCode)
    }
}
