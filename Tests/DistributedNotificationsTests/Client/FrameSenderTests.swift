import Foundation
import Glibc
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DistributedNotifications

/// The other end of the socket reads only when a test does.
final class FrameSenderTests: XCTestCase {
    private var sender: FrameSender!
    private var other: LocalSocket!

    override func setUpWithError() throws {
        var ends: [Int32] = [0, 0]
        try require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        sender = FrameSender(LocalSocket(owning: ends[0]))
        other = LocalSocket(owning: ends[1])
    }

    override func tearDown() {
        (sender, other) = (nil, nil)
    }

    private static func post(_ number: Int, byteCount: Int = 8) -> [UInt8] {
        let frame = RawPeer.post("n", number: number)
        guard byteCount > 8 else { return frame }
        var writer = FrameWriter()
        writer.frame(.post) {
            $0.append(frame.dropFirst(5).dropLast(8))
            $0.append([UInt8](repeating: 0, count: byteCount - 8))
            $0.append(frame.suffix(8))
        }
        return writer.bytes
    }

    /// Sends posts until the socket is full.
    ///
    /// - Returns: how many.
    private func fill() -> Int {
        var posted = 0
        // Small frames, because a frame that is sent partly ends the connection.
        while case .sent = sender.send(Self.post(posted), until: .now) { posted += 1 }
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

    private func connection() throws -> CenterConnection {
        let directory = ServerDirectory(path: "/nonexistent/directory")
        var limits = ClientLimits()
        limits.postTimeout = .seconds(3600)
        let connection = try CenterConnection(directory: directory, limits: limits)
        let isConnected = connection.state.withLock { state in
            // Without a reader.
            _ = state.start()
            return state.connected(sender, toldSuspended: false)
        }
        XCTAssertTrue(isConnected)
        return connection
    }

    private static func observe(_ connection: CenterConnection) throws -> ObserverToken {
        try connection.addObserver(
            name: nil, object: nil, behavior: .hold, options: ObserverOptions(), at: SourceLocation("", 0),
            using: .on(.postingThread) { _ in }, wasAdded: { _ in })
    }

    /// A wait would last an hour.
    func testControlFramesWaitForTheSocketAndTheirCallersDoNot() throws {
        let connection = try connection()
        let told = try Self.observe(connection)
        XCTAssertEqual(try read(), [.register])
        let posted = fill()
        XCTAssertFalse(sender.isBlocked)
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
        XCTAssertFalse(sender.isBlocked)
        added.cancel()
        XCTAssertEqual(try read(), [.unregister])
    }

    func testWaitingControlFramesAreSentBeforeAPost() throws {
        let connection = try connection()
        let posted = fill()
        connection.setSuspended(true)
        XCTAssertEqual(try read(), Array(repeating: .post, count: posted))
        try connection.write(Self.post(0), name: "n", at: SourceLocation("", 0))
        XCTAssertEqual(try read(), [.suspension, .post])
    }

    func testAPostThatTimesOutUnsentDoesNotEndTheConnection() throws {
        let connection = try connection()
        let posted = fill()
        connection.setSuspended(true)
        guard case .timedOut = sender.send(Self.post(0), until: .now) else {
            XCTFail("it was sent")
            return
        }
        XCTAssertEqual(try read(), Array(repeating: .post, count: posted))
        XCTAssertFalse(sender.flush { connection.takeControl(of: sender) })
        XCTAssertEqual(try read(), [.suspension])
    }

    func testFramesOfManyThreadsStayWholeWhenTheSocketTakesParts() throws {
        let sender: FrameSender = sender
        let threads = 4
        let each = 25
        let frames = (0..<threads * each).map { Self.post($0, byteCount: 60_000) }
        let outcomes = Locked(0)
        let done = DispatchSemaphore(value: 0)
        for thread in 0..<threads {
            Thread.detachNewThread {
                for number in 0..<each {
                    if case .sent = sender.send(frames[thread * each + number], until: .now + .seconds(60)) {
                        outcomes.withLock { $0 += 1 }
                    }
                }
                done.signal()
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
                try require(frame.kind == FrameKind.post.rawValue)
                let number = Int(frame.payload.suffix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) })
                XCTAssertGreaterThan(number, last[number / each])
                last[number / each] = number
                count += 1
            }
        }
        for _ in 0..<threads { XCTAssertEqual(done.wait(timeout: .now() + 60), .success) }
        XCTAssertEqual(outcomes.withLock { $0 }, threads * each)
        XCTAssertFalse(sender.isBlocked)
    }
}
