internal import NIOCore
internal import SharedTesting
internal import XCTest

@testable internal import DistributedNotifications
@testable internal import NATSClient
@testable internal import NotificationBridge

final class InboundPostsTests: XCTestCase {
    private func at(_ last: UInt64) -> StreamPosition { StreamPosition(created: "now", last: last) }

    private func stream(_ first: UInt64, _ last: UInt64) -> NATSConnection.Stream {
        NATSConnection.Stream(created: "now", state: NATSConnection.Stream.State(firstSeq: first, lastSeq: last))
    }

    private func message(_ number: UInt64, _ name: String = "Saved", from bridge: UInt64 = 2) throws -> [UInt8] {
        try XCTUnwrap(bridged(payload(name, number: number), from: bridge))
    }

    /// The numbers of the posts in a batch of frames.
    private func numbers(_ batch: InboundPosts.Batch?) throws -> [UInt64] {
        let (decoder, batch) = (FrameDecoder(), try XCTUnwrap(batch))
        let frames = batch.frames.readableBytesView
        decoder.space().copyBytes(from: frames)
        decoder.received(frames.count)
        var numbers: [UInt64] = []
        while let frame = try decoder.next() {
            XCTAssertEqual(frame.kind, FrameKind.post.rawValue)
            numbers.append(try XCTUnwrap(try PostedPayload(frame.payload).sequence).number)
        }
        XCTAssertEqual(numbers.count, batch.count)
        return numbers
    }

    func testItPostsWhatOthersSentOnceAndCountsWhatIsMissingAndInvalid() throws {
        var inbound = InboundPosts(bridge: 1, names: ["Saved", "Closed"])
        for (post, expected, why) in [
            (try message(1), [1], "it is new"), (try message(1), [], "a duplicate"),
            (try message(2, from: 1), [], "of this bridge"), (try message(2, "Other"), [], "of another name"),
            (try message(4), [4], "2 are missing"), (try message(3), [], "an earlier one"),
            (try message(9, "Closed"), [9], "numbers are of one name"), ([9, 9], [], "it is invalid"),
        ] as [([UInt8], [UInt64], String)] {
            inbound.receive(try .test(post))
            XCTAssertEqual(try inbound.take().map { try numbers($0) } ?? [], expected, why)
        }
        XCTAssertEqual([inbound.missing, inbound.invalid], [2, 1])
        XCTAssertEqual(inbound.problem?.contains("version"), true)
        // Another local server has received nothing.
        inbound.receive(try .test(message(5)))
        inbound.restart(position: nil)
        for number in [4, 5] as [UInt64] { inbound.receive(try .test(message(number))) }
        XCTAssertEqual(try numbers(inbound.take()), [4, 5])
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
            var inbound = InboundPosts(bridge: 1, names: ["Saved"])
            inbound.restart(position: known)
            XCTAssertEqual(inbound.resume(stream(first, last)), expected, why)
            XCTAssertEqual(inbound.take()?.position, at(expected), why)
        }
    }

    func testALostMessageOfAConsumerIsFoundAndTheNextConsumerCountsAgain() throws {
        let post = try message(1)
        for (consumer, isInOrder) in [(2, true), (3, false), (1, false), (0, false)] as [(UInt64, Bool)] {
            var inbound = InboundPosts(bridge: 1, names: ["Saved"])
            inbound.restart(position: at(10))
            _ = inbound.resume(stream(1, 20))
            XCTAssertTrue(inbound.receiveDelivery(try .delivered(post, stream: 11, consumer: 1)))
            // A message that is ignored was read too.
            XCTAssertEqual(inbound.receiveDelivery(try .delivered(post, stream: 15, consumer: consumer)), isInOrder)
            let batch = inbound.take()
            XCTAssertEqual([batch?.count, (batch?.position?.last).map { Int($0) }], [1, isInOrder ? 15 : 11])
            XCTAssertEqual(inbound.resume(stream(1, 20)), isInOrder ? 15 : 11)
            XCTAssertTrue(inbound.receiveDelivery(try .delivered(post, stream: 16, consumer: 1)))
            // What comes after it is not posted before what another local server has lost.
            inbound.restart(position: at(10))
            XCTAssertFalse(inbound.receiveDelivery(try .delivered(post, stream: 17, consumer: 2)))
            XCTAssertEqual(inbound.resume(stream(1, 20)), 10)
        }
    }

    func testFlowControlIsAnsweredWithTheBatchAndAHeartbeatTellsALostMessage() throws {
        var inbound = InboundPosts(bridge: 1, names: ["Saved"])
        inbound.restart(position: at(0))
        _ = inbound.resume(stream(1, 0))
        _ = inbound.take()
        let idle = "NATS/1.0 100 Idle Heartbeat\r\nNats-Last-Consumer: "
        XCTAssertTrue(
            inbound.receiveDelivery(try .test([], reply: "fc.1", header: "NATS/1.0 100 FlowControl Request")))
        XCTAssertTrue(inbound.receiveDelivery(try .test([], header: idle + "0\r\nNats-Consumer-Stalled: fc.2")))
        XCTAssertEqual(inbound.take()?.answers, ["fc.1", "fc.2"])
        XCTAssertTrue(inbound.receiveDelivery(try .test([1], header: nil)), "it is of no consumer")
        XCTAssertNil(inbound.take())
        XCTAssertFalse(inbound.receiveDelivery(try .test([], header: idle + "1")))
        XCTAssertEqual(inbound.heard, 4)
    }
}
