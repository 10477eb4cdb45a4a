import Foundation
import Glibc
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DistributedNotifications

/// The other end of the socket reads only when a test does. A wait for it would last an hour.
final class FrameSenderTests: XCTestCase {
    private var sender: FrameSender!
    private var other: LocalSocket!
    private let decoder = FrameDecoder(capacity: 256 << 10)

    override func setUpWithError() throws {
        var ends: [Int32] = [0, 0]
        try require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        (sender, other) = (FrameSender(LocalSocket(owning: ends[0])), LocalSocket(owning: ends[1]))
    }

    override func tearDown() { (sender, other) = (nil, nil) }

    /// Sends posts until the socket is full. They are small, because a frame that is sent partly ends the connection.
    private func fill() -> [FrameKind] {
        var kinds: [FrameKind] = []
        while case .sent = sender.send(RawPeer.post("n", number: 0), until: .now) { kinds.append(.post) }
        return kinds
    }

    /// Receives once, and calls `body` with each complete frame.
    private func receive(atMost limit: Int = .max, _ body: (Frame) -> Void) throws -> Int {
        let space = decoder.space()
        let count = recv(other.descriptor, space.baseAddress, min(space.count, limit), Int32(MSG_DONTWAIT))
        if count > 0 { decoder.received(count) }
        while let frame = try decoder.next() { body(frame) }
        return count
    }

    /// The kinds of all frames that the other end receives.
    private func read() throws -> [FrameKind] {
        var kinds: [FrameKind] = []
        while try receive({ frame in FrameKind(rawValue: frame.kind).map { kinds.append($0) } }) > 0 {}
        XCTAssertTrue(decoder.isEmpty)
        return kinds
    }

    private static func observe(_ connection: CenterConnection) throws -> ObserverToken {
        try connection.addObserver(
            nil, nil, .hold, ObserverOptions(), SourceLocation("", 0), .on(.postingThread) { _ in })
    }

    func testControlFramesWaitForTheSocketBeforePostsAndNeitherTheirCallersNorCloseWait() throws {
        let connection = try CenterConnection(
            directory: ServerDirectory(path: "/nonexistent"), postTimeout: .seconds(3600))
        sender = connection.sender(over: sender.socket, PostNumbers())
        // It has no reader.
        let isConnected = connection.state.withLock { $0.start() && $0.connected(sender, toldSuspended: false) }
        XCTAssertTrue(isConnected)
        let told = try Self.observe(connection)
        XCTAssertEqual(try read(), [.register])
        var posts = fill()
        told.cancel()
        let added = try Self.observe(connection)
        connection.setSuspended(true)
        XCTAssertTrue(sender.isBlocked)
        // The reader is woken to send the rest.
        var wake = pollfd(fd: connection.wake.number, events: Int16(POLLIN), revents: 0)
        XCTAssertEqual(poll(&wake, 1, 0), 1)
        XCTAssertEqual(try read(), posts)
        XCTAssertFalse(sender.flush())
        XCTAssertEqual(try read(), [.unregister, .register, .suspension])
        posts = fill()
        added.cancel()
        XCTAssertEqual(try read(), posts)
        // The post that did not fit has ended nothing.
        try connection.write(OutgoingFrame(bytes: RawPeer.post("n", number: 0)), name: "n", at: SourceLocation("", 0))
        XCTAssertEqual(try read(), [.unregister, .post])
        posts = fill()
        connection.close()
        XCTAssertEqual(try read(), posts)
    }

    func testFramesOfManyThreadsStayWholeWhenTheSocketTakesParts() throws {
        let sender: FrameSender = sender
        let (threads, each) = (4, 25)
        let frames = (0..<threads * each).map { RawPeer.post("n", number: $0, byteCount: 60_000) }
        let sent = Awaited(0)
        for thread in 0..<threads {
            Thread.detachNewThread {
                for frame in frames[thread * each..<(thread + 1) * each] {
                    if case .sent = sender.send(frame, until: .now + .seconds(60)) { sent.withLock { $0 += 1 } }
                }
            }
        }
        var last = Array(repeating: -1, count: threads)
        var count = 0
        while count < threads * each {
            var descriptor = pollfd(fd: other.descriptor, events: Int16(POLLIN), revents: 0)
            try require(poll(&descriptor, 1, 60_000) == 1)
            // Less than a frame at a time.
            let received = try receive(atMost: 10_000) { frame in
                let number = Int(frame.payload.suffix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) })
                XCTAssertGreaterThan(number, last[number / each])
                last[number / each] = number
                count += 1
            }
            try require(received > 0)
        }
        XCTAssertTrue(sent.wait { $0 == threads * each })
        XCTAssertFalse(sender.isBlocked)
    }
}
