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

    override func setUpWithError() throws {
        var ends: [Int32] = [0, 0]
        try require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        (sender, other) = (FrameSender(LocalSocket(owning: ends[0])), LocalSocket(owning: ends[1]))
    }

    override func tearDown() { (sender, other) = (nil, nil) }

    /// Sends posts until the socket is full. They are small, because a frame that is sent partly ends the connection.
    private func fill() -> Int {
        var posted = 0
        while case .sent = sender.send(RawPeer.post("n", number: posted), until: .now) { posted += 1 }
        return posted
    }

    /// The kinds of all frames that the other end receives.
    private func read() throws -> [FrameKind?] {
        let decoder = FrameDecoder(capacity: 256 << 10)
        var kinds: [FrameKind?] = []
        while true {
            let space = decoder.space()
            let count = recv(other.descriptor, space.baseAddress, space.count, Int32(MSG_DONTWAIT))
            guard count > 0 else { break }
            decoder.received(count)
            while let frame = try decoder.next() { kinds.append(FrameKind(rawValue: frame.kind)) }
        }
        let isWhole = decoder.isEmpty
        XCTAssertTrue(isWhole)
        return kinds
    }

    /// A connection without a reader.
    private func connection() throws -> CenterConnection {
        var limits = ClientLimits()
        limits.postTimeout = .seconds(3600)
        let connection = try CenterConnection(
            directory: ServerDirectory(path: "/nonexistent/directory"), limits: limits)
        let isConnected = connection.state.withLock { state in
            _ = state.start()
            return state.connected(sender, toldSuspended: false)
        }
        XCTAssertTrue(isConnected)
        return connection
    }

    private static func observe(_ connection: CenterConnection) throws -> ObserverToken {
        try connection.addObserver(
            nil, nil, .hold, ObserverOptions(), SourceLocation("", 0), .on(.postingThread) { _ in })
    }

    func testControlFramesWaitForTheSocketAndTheirCallersDoNotAndNeitherDoesClose() throws {
        let connection = try connection()
        let told = try Self.observe(connection)
        XCTAssertEqual(try read(), [.register])
        var posted = fill()
        told.cancel()
        let added = try Self.observe(connection)
        connection.setSuspended(true)
        XCTAssertTrue(sender.isBlocked)
        // The reader is woken to send the rest.
        var wake = pollfd(fd: connection.wake.number, events: Int16(POLLIN), revents: 0)
        XCTAssertEqual(poll(&wake, 1, 0), 1)
        XCTAssertEqual(try read(), Array(repeating: .post, count: posted))
        XCTAssertFalse(sender.flush { connection.takeControl(of: sender) })
        XCTAssertEqual(try read(), [.unregister, .register, .suspension])
        added.cancel()
        XCTAssertEqual(try read(), [.unregister])
        posted = fill()
        connection.close()
        XCTAssertEqual(try read(), Array(repeating: .post, count: posted))
    }

    func testWaitingControlFramesAreSentBeforeAPostAndAPostThatTimesOutUnsentEndsNothing() throws {
        let connection = try connection()
        let posted = fill()
        connection.setSuspended(true)
        guard case .timedOut = sender.send(RawPeer.post("n", number: 0), until: .now) else {
            return XCTFail("it was sent")
        }
        XCTAssertEqual(try read(), Array(repeating: .post, count: posted))
        try connection.write(RawPeer.post("n", number: 0), name: "n", at: SourceLocation("", 0))
        XCTAssertEqual(try read(), [.suspension, .post])
    }

    func testFramesOfManyThreadsStayWholeWhenTheSocketTakesParts() throws {
        let sender: FrameSender = sender
        let (threads, each) = (4, 25)
        let frames = (0..<threads * each).map { RawPeer.post("n", number: $0, byteCount: 60_000) }
        let sent = Awaited(0)
        for thread in 0..<threads {
            Thread.detachNewThread {
                for number in 0..<each {
                    if case .sent = sender.send(frames[thread * each + number], until: .now + .seconds(60)) {
                        sent.withLock { $0 += 1 }
                    }
                }
            }
        }
        let decoder = FrameDecoder(capacity: 256 << 10)
        var last = Array(repeating: -1, count: threads)
        var count = 0
        while count < threads * each {
            var descriptor = pollfd(fd: other.descriptor, events: Int16(POLLIN), revents: 0)
            try require(poll(&descriptor, 1, 60_000) == 1)
            // Less than a frame at a time.
            let space = decoder.space()
            let received = recv(other.descriptor, space.baseAddress, min(space.count, 10_000), 0)
            try require(received > 0)
            decoder.received(received)
            while let frame = try decoder.next() {
                let number = Int(frame.payload.suffix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) })
                XCTAssertGreaterThan(number, last[number / each])
                last[number / each] = number
                count += 1
            }
        }
        XCTAssertTrue(sent.wait { $0 == threads * each })
        XCTAssertFalse(sender.isBlocked)
    }
}
