internal import NATSClient
internal import SharedTesting
internal import XCTest

@testable internal import DistributedNotifications
@testable internal import NotificationBridge

final class InboundPostsTests: XCTestCase {
    private func at(_ last: UInt64) -> StreamPosition { StreamPosition(created: "now", last: last) }

    private func receive(_ message: [UInt8]?, _ inbound: inout InboundPosts) throws -> InboundPosts.Outcome {
        try XCTUnwrap(message).withUnsafeBytes { inbound.receive($0) }
    }

    /// The numbers of the posts in a batch of frames.
    private func numbers(_ batch: InboundPosts.Batch) throws -> [UInt64] {
        var (decoder, numbers, frames) = (FrameDecoder(), [UInt64](), batch.frames[...])
        while !frames.isEmpty {
            let part = frames.prefix(decoder.space().count)
            decoder.space().copyBytes(from: part)
            decoder.received(part.count)
            frames = frames.dropFirst(part.count)
            while let frame = try decoder.next() {
                XCTAssertEqual(frame.kind, FrameKind.post.rawValue)
                numbers.append(try XCTUnwrap(try PostedPayload(frame.payload).sequence).number)
            }
        }
        XCTAssertEqual(numbers.count, batch.count)
        return numbers
    }

    func testItPostsWhatOthersSentOnceAndCountsWhatIsMissingAndInvalid() throws {
        var inbound = InboundPosts(bridge: 1, names: ["Saved", "Closed"])
        func message(_ number: UInt64, _ name: String = "Saved", from bridge: UInt64 = 2) throws -> [UInt8]? {
            try bridged(payload(name, number: number), from: bridge)
        }
        XCTAssertEqual(try receive(message(1), &inbound), .accepted)
        XCTAssertEqual(try receive(message(1), &inbound), .ignored, "a duplicate")
        XCTAssertEqual(try receive(message(2, from: 1), &inbound), .ignored, "of this bridge")
        XCTAssertEqual(try receive(message(2, "Other"), &inbound), .ignored, "of another name")
        XCTAssertEqual(try receive(message(4), &inbound), .accepted)
        XCTAssertEqual(try receive(message(3), &inbound), .ignored, "an earlier one")
        XCTAssertEqual(try receive(message(9, "Closed"), &inbound), .accepted, "numbers are of one name")
        guard case .invalid(let problem) = try receive([9, 9], &inbound) else { return XCTFail("it is valid") }
        XCTAssertFalse(problem.isEmpty)
        XCTAssertEqual([inbound.missing, inbound.invalid], [2, 1])
        XCTAssertEqual(inbound.problem?.contains(problem), true)
        XCTAssertEqual(try numbers(inbound.take()), [1, 4, 9])
        XCTAssertTrue(inbound.isEmpty)
        XCTAssertTrue(inbound.take().isEmpty)
    }

    func testWhatDoesNotFitIsRefusedAndComesAgainOnTheNextLink() throws {
        var inbound = InboundPosts(bridge: 1, names: ["Saved"], position: at(0))
        let userInfo = try encoded(["a": .string(String(repeating: "x", count: 50_000))])
        inbound.begin(link: 1)
        XCTAssertEqual(inbound.resume(created: "now", first: 1, last: 500), 0)
        func message(_ number: UInt64, _ consumer: UInt64) throws -> NATSMessage {
            try .delivered(
                XCTUnwrap(bridged(payload(number: number, userInfo: userInfo), from: 2)), stream: number,
                consumer: consumer)
        }
        let fitting = UInt64(InboundPosts.batchBytes / 50_000 * InboundPosts.batchLimit)
        for number in 1...fitting { XCTAssertTrue(inbound.receive(try message(number, number), over: 1), "\(number)") }
        var refused = fitting + 1
        while inbound.receive(try message(refused, refused), over: 1) { refused += 1 }
        XCTAssertLessThan(refused, 2 * fitting)
        // Nothing more of this link is received.
        XCTAssertTrue(inbound.receive(try message(refused + 1, refused + 1), over: 1))
        var posted: [UInt64] = []
        while !inbound.isEmpty {
            let batch = inbound.take()
            XCTAssertLessThan(batch.frames.count, InboundPosts.batchBytes + 60_000)
            posted += try numbers(batch)
            XCTAssertEqual(batch.position?.last, posted.last)
        }
        XCTAssertEqual(posted, Array(1..<refused))
        inbound.begin(link: 2)
        XCTAssertEqual(inbound.resume(created: "now", first: 1, last: 500), refused - 1)
        XCTAssertTrue(inbound.receive(try message(refused, 1), over: 2))
        let batch = inbound.take()
        XCTAssertEqual([batch.count, Int(batch.position?.last ?? 0)], [1, Int(refused)])
        XCTAssertEqual(inbound.missing, 0)
    }

    func testItGoesOnReadingAfterWhatWasPosted() {
        let old = { (last: UInt64) in StreamPosition(created: "before", last: last) }
        for (known, first, last, expected, why) in [
            (nil, 1, 0, 0, "the stream is new"), (nil, 5, 9, 9, "what was posted before is not for a new bridge"),
            (at(7), 5, 9, 7, "the next one"), (at(2), 5, 9, 2, "some were discarded"), (at(9), 5, 9, 9, "all was read"),
            (at(20), 5, 9, 9, "the last ones are lost"), (old(20), 1, 0, 0, "it is another stream, and empty"),
            (old(3), 0, 0, 0, "it is another stream, and empty"), (old(20), 5, 9, 4, "it is another stream"),
            (old(7), 5, 9, 4, "it is another stream, with more than was read of the one before"),
        ] as [(StreamPosition?, UInt64, UInt64, UInt64, String)] {
            var inbound = InboundPosts(bridge: 1, names: ["Saved"], position: known)
            XCTAssertEqual(inbound.resume(created: "now", first: first, last: last), expected, why)
            XCTAssertEqual(inbound.take().position, at(expected), why)
        }
    }

    func testALostMessageOfAConsumerEndsItsLinkAndAnotherLinksMessagesAreNotReceived() throws {
        let message = try XCTUnwrap(bridged(payload(), from: 2))
        for (consumer, isInOrder) in [(2, true), (3, false), (1, false), (0, false)] as [(UInt64, Bool)] {
            var inbound = InboundPosts(bridge: 1, names: ["Saved"], position: at(10))
            inbound.begin(link: 4)
            _ = inbound.resume(created: "now", first: 1, last: 20)
            XCTAssertTrue(inbound.receive(try .delivered(message, stream: 11, consumer: 1), over: 3), "an old link")
            XCTAssertTrue(inbound.receive(try .delivered(message, stream: 11, consumer: 1), over: 4))
            // A message that is ignored was read too.
            XCTAssertEqual(
                inbound.receive(try .delivered(message, stream: 15, consumer: consumer), over: 4), isInOrder)
            let batch = inbound.take()
            XCTAssertEqual([batch.count, Int(batch.position?.last ?? 0)], [1, isInOrder ? 15 : 11])
        }
    }

    func testFlowControlIsAnsweredWithTheBatchAndAHeartbeatTellsALostMessage() throws {
        var inbound = InboundPosts(bridge: 1, names: ["Saved"], position: at(0))
        inbound.begin(link: 1)
        _ = inbound.resume(created: "now", first: 1, last: 0)
        _ = inbound.take()
        let idle = "NATS/1.0 100 Idle Heartbeat\r\nNats-Last-Consumer: "
        XCTAssertTrue(
            inbound.receive(try .test([], reply: "fc.1", header: "NATS/1.0 100 FlowControl Request"), over: 1))
        XCTAssertTrue(inbound.receive(try .test([], header: idle + "0\r\nNats-Consumer-Stalled: fc.2"), over: 1))
        XCTAssertEqual(inbound.take().answers, ["fc.1", "fc.2"])
        XCTAssertTrue(inbound.receive(try .test([1], header: nil), over: 1), "it is of no consumer")
        XCTAssertTrue(inbound.isEmpty)
        XCTAssertFalse(inbound.receive(try .test([], header: idle + "1"), over: 1))
        XCTAssertTrue(inbound.receive(try .test([], header: idle + "1"), over: 1), "the link has ended")
    }
}
