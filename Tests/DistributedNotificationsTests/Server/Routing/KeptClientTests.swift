import Foundation
import Glibc
import SharedTesting
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// What is posted for a kept client waits until it acknowledges it, whatever becomes of its connections.
final class KeptClientTests: XCTestCase {
    private let temporary: TemporaryDirectory! = try? TemporaryDirectory()

    private func fromElsewhere(_ name: String = "n") -> [UInt8] {
        RawPeer.post(name, origin: (Array("machine".utf8), Array("user".utf8)))
    }

    private func connect(_ key: String = "bridge", observing name: String = "n") throws -> RawPeer {
        try RawPeer(temporary.directory, name: "kept", keptAs: key, observing: name)
    }

    /// The server must know that a connection has ended before the next begins.
    private func end(_ peer: inout RawPeer?, _ server: ServerInThisProcess) {
        let ended = server.lines("(kept) disconnected").count
        peer = nil
        XCTAssertTrue(server.hasLogged("(kept) disconnected", ended + 1))
    }

    private func post(_ numbers: Range<Int>, byteCount: Int = 8) throws {
        let poster = try RawPeer(temporary.directory, name: "poster")
        try poster.post("n", numbers: numbers, byteCount: byteCount)
        try poster.write(fromElsewhere())
        try poster.synchronize()
    }

    private func numbers(_ frames: [RawPeer.Received]) throws -> [Int] {
        try frames.map {
            guard case .frame(.notification, let payload) = $0 else { throw RawPeer.Problem.ended($0) }
            return try RawPeer.delivered(payload).number
        }
    }

    func testWhatIsPostedWhileItIsAwayAndWhatItDidNotAcknowledgeComesInOrderAndNothingFromElsewhere() throws {
        let server = try ServerInThisProcess(temporary)
        var peer: RawPeer? = try connect()
        XCTAssertEqual(try peer?.synchronize(), [])
        end(&peer, server)
        try post(0..<3)
        peer = try connect()
        try post(3..<5)
        XCTAssertEqual(try peer.map { try numbers($0.synchronize()) }, [0, 1, 2, 3, 4])
        try peer?.acknowledge(2)
        try peer?.synchronize()
        end(&peer, server)
        try post(5..<6)
        peer = try connect()
        XCTAssertEqual(try peer.map { try numbers($0.synchronize()) }, [2, 3, 4, 5])
        // Those for an observer that is removed are not sent.
        end(&peer, server)
        peer = try connect(observing: "other")
        XCTAssertEqual(try peer.map { try numbers($0.synchronize()) }, [])
        let status = try temporary.status()
        ServerStatusTests.assertItAddsUp(status)
        XCTAssertEqual([status.matched, status.delivered, status.removed, status.heldEntries], [6, 2, 4, 0])
    }

    func testASecondConnectionWithItsKeyIsRefusedAtAnyTimeAndTheFirstContinues() throws {
        let server = try ServerInThisProcess(temporary)
        func refusal() throws -> String {
            let second = try RawPeer(temporary.directory, name: nil)
            try second.sayHello("second", keptAs: "bridge")
            return try second.farewell()
        }
        let reason = "process \(getpid()) is connected as bridge, and only one may be. End it first"
        var peer: RawPeer? = try connect()
        XCTAssertEqual(try refusal(), reason)
        try post(0..<1)
        XCTAssertEqual(try peer?.delivered().number, 0)
        end(&peer, server)
        // One that has said hello, and did not begin.
        peer = try RawPeer(temporary.directory, name: "kept", keptAs: "bridge")
        XCTAssertEqual(try refusal(), reason)
        try peer?.register(1, name: "n")
        try peer?.acknowledge(0)
        XCTAssertEqual(try peer?.delivered().number, 0)
        // An error ends the connection and not more.
        try peer?.acknowledge(2)
        XCTAssertEqual(try peer?.farewell().contains("unknown acknowledgement, 2"), true)
        XCTAssertTrue(server.hasLogged("(kept) disconnected", 2))
        XCTAssertEqual(try connect().delivered().number, 0)
    }

    func testItIsSentNoMoreThanAWindowBeforeItAcknowledges() throws {
        let server = try ServerInThisProcess(temporary)
        for (posts, byteCount, window) in [(5000, 8, Wire.keptWindow), (30, 50_000, 20)] {
            var peer: RawPeer? = try connect("\(byteCount)")
            end(&peer, server)
            try post(0..<posts, byteCount: byteCount)
            let again = try connect("\(byteCount)")
            for number in 0..<window { XCTAssertEqual(try again.delivered().number, number) }
            XCTAssertEqual(try again.synchronize(), [])
            try again.acknowledge(2)
            XCTAssertEqual(try again.delivered().number, window)
            XCTAssertEqual(try again.delivered().number, window + 1)
            XCTAssertEqual(try again.synchronize(), [])
        }
    }

    func testTheOldestOfTooManyAreDiscardedAndTheStatusSaysHowManyAndItsDetails() throws {
        let server = try ServerInThisProcess(temporary) { $0.keptBytes = 100 * (12 + 200 + Wire.heldObserverBytes) }
        var peer: RawPeer? = try connect()
        var writer = FrameWriter()
        try writer.details(["link": "up"])
        try peer?.write(writer.bytes)
        try peer?.synchronize()
        XCTAssertEqual(try temporary.client("kept").details, ["link": "up"])
        end(&peer, server)
        try post(0..<250, byteCount: 200)
        let client = try temporary.client("kept")
        XCTAssertEqual([client.matched, client.discarded, client.heldEntries], [250, 148, 102])
        XCTAssertEqual(client.details, [:])
        ServerStatusTests.assertItAddsUp(try temporary.status())
        XCTAssertEqual(try numbers(connect().synchronize()), Array(148..<250))
        XCTAssertEqual(server.lines("acknowledges too slowly").count, 1)
    }

    func testAServerDoesNotEndWhileItKeepsPostsWhichItForgetsAfterTheTimeout() throws {
        var limits = ServerLimits()
        (limits.idleTimeout, limits.keptTimeout) = (.zero, .milliseconds(50))
        let (lines, hasEnded) = (Awaited([String]()), Awaited(false))
        let server = LocalServer(directory: temporary.directory, limits: limits) { line in
            lines.withLock { $0.append(line) }
        }
        let served = try ServedSocket.open(at: temporary.directory, timeout: TestTimeout.hang)
        // It waits already when the server begins.
        var peer: RawPeer? = try RawPeer(temporary.directory, name: nil)
        Thread.detachNewThread {
            try? server.serve(served, endsWhenIdle: true)
            hasEnded.withLock { $0 = true }
        }
        try peer?.sayHello("kept", keptAs: "bridge")
        try peer?.register(1, name: "n")
        try peer?.acknowledge(0)
        try peer?.write(RawPeer.post("n", number: 1))
        XCTAssertEqual(try peer?.next(), .frame(.welcome, []))
        XCTAssertEqual(try peer?.delivered().number, 1)
        peer = nil
        XCTAssertTrue(hasEnded.wait { $0 })
        let texts = [
            "disconnected", "did not connect again: 1 notifications for it are discarded", "stopping: no process",
        ]
        let places = texts.map { text in lines.withLock { $0.firstIndex { $0.contains(text) } ?? -1 } }
        XCTAssertEqual(places, places.sorted())
        XCTAssertGreaterThan(places[0], 0)
    }

    func testRandomTraces() throws {
        let server = try ServerInThisProcess(temporary)
        let poster = try RawPeer(temporary.directory, name: "poster")
        for seed in 0..<UInt64(FaultRounds.comparisons) {
            var random = SeededGenerator(seed: seed)
            let key = "\(seed)"
            var posts: [Int] = []
            // Of `posts`: the first of this connection, the next to receive, and those that are acknowledged, for sure
            // and perhaps.
            var (first, next, handled, acknowledged) = (0, 0, 0, 0)
            var peer: RawPeer? = try connect(key, observing: key)
            try peer?.synchronize()
            func read() throws {
                let received = try numbers(peer?.synchronize() ?? [])
                XCTAssertEqual(received, Array(posts.dropFirst(next)), "seed \(seed)")
                (next, handled) = (next + received.count, acknowledged)
            }
            func begin() throws {
                let again = try connect(key, observing: key)
                let received = try numbers(again.synchronize())
                first = posts.count - received.count
                XCTAssertTrue((handled...acknowledged).contains(first), "seed \(seed)")
                XCTAssertEqual(received, Array(posts.suffix(received.count)), "seed \(seed)")
                (peer, next, handled, acknowledged) = (again, posts.count, first, first)
            }
            for number in 0..<40 {
                try poster.write(RawPeer.post(key, number: number))
                if random.once(in: 4) { try poster.write(fromElsewhere(key)) }
                posts.append(number)
                try poster.synchronize()
                if peer == nil {
                    if random.once(in: 3) { try begin() }
                    continue
                }
                if random.once(in: 2) { try read() }
                if random.once(in: 3) {
                    acknowledged = .random(in: acknowledged...next, using: &random)
                    try peer?.acknowledge(acknowledged - first)
                }
                if random.once(in: 6) { end(&peer, server) }
            }
            if peer != nil { end(&peer, server) }
            try begin()
            end(&peer, server)
        }
        ServerStatusTests.assertItAddsUp(try temporary.status())
    }
}
