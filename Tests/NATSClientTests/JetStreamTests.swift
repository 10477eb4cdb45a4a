internal import NIOCore
internal import Scenarios
internal import SharedTesting
internal import XCTest

@testable internal import NATSClient

final class JetStreamTests: XCTestCase {
    func testAStreamIsCreatedOnceAndSaysWhyItStoresNothing() async throws {
        let server = try NATSHub.started()
        let client = try await server.connect()
        func open(_ subject: String, in name: String = "S") async throws -> [UInt64] {
            let state = try await client.openStream(name, subjects: [subject], maxBytes: 100_000).state
            return [state.firstSeq, state.lastSeq]
        }
        let new = try await open("s.*")
        for subject in ["s.1", "s.2"] { try await client.store([1], in: subject) }
        let known = try await open("s.*")
        XCTAssertEqual([new, known], [[0, 0], [1, 2]])
        await assertThrows("stream with such a subject", needsConfiguration: false) {
            try await client.store([1], in: "other")
        }
        await assertThrows("STREAM.CREATE.T: \"subjects overlap", needsConfiguration: false) {
            try await open("s.1", in: "T")
        }
        await assertThrows("CONSUMER.CREATE.U: \"stream not found", needsConfiguration: false) {
            try await client.createConsumer(of: "U", deliverTo: "d", from: 1, filter: "s.*")
        }
        await client.close()
    }

    /// 24 MB, of which the server sends 2 to 4 before it wants an answer.
    func testAConsumerDeliversAllInOrderIfFlowControlIsAnswered() async throws {
        let server = try NATSHub.started()
        let (client, reader) = (try await server.connect(), try await server.connect())
        _ = try await client.openStream("S", subjects: ["s", "t"], maxBytes: 1 << 30)
        let count: UInt64 = 400
        try await client.store([1], in: "t")
        for _ in 1..<count { client.publish([UInt8](repeating: 1, count: 60_000), to: "s") }
        try await client.store([1], in: "s")
        let (numbers, answers, end) = (Awaited([[UInt64]]()), Awaited(0), Awaited(UInt64(0)))
        let inbox = NATSConnection.makeInbox()
        await reader.subscribe(inbox) { message in
            switch JetStreamDelivery(message) {
            case .message(let stream, let consumer): numbers.withLock { $0.append([stream, consumer]) }
            case .heartbeat(let last, _): end.withLock { $0 = last }
            case .flowControl(let subject):
                answers.withLock { $0 += 1 }
                reader.publish([], to: subject)
            case nil: XCTFail("\(message)")
            }
        }
        try await reader.createConsumer(of: "S", deliverTo: inbox, from: 11, filter: "s", heartbeat: .milliseconds(100))
        XCTAssert(end.wait { $0 == count - 9 })
        XCTAssertEqual(numbers.withLock { $0 }, (11...(count + 1)).map { [$0, $0 - 10] })
        XCTAssertGreaterThan(answers.withLock { $0 }, 0)
        for connection in [client, reader] { await connection.close() }
    }
}
