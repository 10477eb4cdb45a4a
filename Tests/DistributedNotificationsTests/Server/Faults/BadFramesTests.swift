import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// Frames that violate the protocol: the server refuses their writer with the reason, and other clients are served.
final class BadFramesTests: XCTestCase {
    private var temporary: TemporaryDirectory!
    private var server: ServerInThisProcess!

    override func setUpWithError() throws {
        temporary = try TemporaryDirectory()
        server = try ServerInThisProcess(temporary)
    }

    override func tearDown() {
        (server, temporary) = (nil, nil)
    }

    func testAFrameThatViolatesTheProtocolIsRefusedWithTheReasonAndOthersAreServed() throws {
        let healthy = try RawPeer(temporary.directory, name: "healthy")
        func frame(_ kind: FrameKind, _ payload: [UInt8]) -> [UInt8] {
            withUnsafeBytes(of: UInt32(payload.count + 1).littleEndian, Array.init) + [kind.rawValue] + payload
        }
        let longName = [0, 0, 1] + [UInt8](repeating: 97, count: 256)
        let kindZero: [UInt8] = [1, 0, 0, 0, 0]
        func register(_ number: Int, _ behavior: String = "hold", flags: UInt8 = 0) -> [UInt8] {
            var writer = FrameWriter()
            writer.frame(.register) {
                $0.integer(UInt32(number))
                $0.string(behavior)
                $0.integer(flags)
            }
            return writer.bytes
        }
        let (twice, tooMany): ([UInt8], [UInt8]) = (register(1) + register(1), (0...512).flatMap { register($0) })
        for (bytes, hello, why): ([UInt8], Bool, String) in [
            ([0, 0, 0, 0], true, "it wrote a frame of 0 bytes, and a frame has 1 to 65536"),
            ([255, 255, 255, 255], true, "a frame of 4294967295 bytes"),
            ([1, 0, 1, 0], true, "a frame of 65537 bytes"),
            ([0, 0, 0, 0], false, "a frame of 0 bytes"), (Array("GET / HTTP/1.1\r\n\r\n".utf8), false, "a frame of"),
            (kindZero, true, "kind of frame"), (frame(.notification, []), true, "kind of frame"),
            (frame(.hello, []), true, "where none may be"), (frame(.post, [0, 1, 0, 97]), false, "where none may be"),
            (frame(.hello, [UInt8](repeating: 1, count: 9)), false, "another protocol"),
            (frame(.post, []), true, "ends before"), (frame(.post, [0, 0, 0]), true, "an empty name"),
            (frame(.post, [0, 1, 0, 0]), true, "NUL"), (frame(.post, [0, 1, 0, 0xFF]), true, "not UTF-8"),
            (frame(.post, [0, 5, 0, 97]), true, "ends before"),
            (frame(.post, [0, 1, 0, 97, 1]), true, "after its parts"),
            (frame(.post, [64, 1, 0, 97]), true, "flag of a post"), (frame(.post, longName), true, "at most 255"),
            (frame(.post, [4, 1, 0, 97] + [UInt8](repeating: 0, count: 61_441)), true, "at most 61440"),
            (register(1, "late"), true, "suspension behavior"),
            (register(1, flags: 4), true, "flag of an observer"),
            (twice, true, "second registration with the number 1"),
            (tooMany, true, "more than 512 observers"),
            (frame(.post, [16, 1, 0, 97]), true, "ends before"),
            (frame(.post, [32, 1, 0, 97, 1, 0]), true, "ends before"),
            (frame(.acknowledge, [UInt8](repeating: 0, count: 8)), true, "where none may be"),
            (frame(.details, [1]), true, "form of details"), (frame(.suspension, [2]), true, "suspension"),
            (frame(.farewell, [1]), true, "after"),
        ] {
            let peer = try RawPeer(temporary.directory, name: hello ? "bad" : nil)
            try peer.write(bytes)
            let reason = try peer.farewell()
            XCTAssertTrue(reason.contains(why), "\(bytes.prefix(12)): \(reason)")
        }
        try healthy.synchronize()
        let status = try temporary.status()
        XCTAssertEqual(status.clients.map(\.name), ["healthy"])
        XCTAssertEqual(status.posted, 0)
    }

    func testAUserInfoThatIsNoPropertyListIsReportedAsAGap() throws {
        let center = try DistributedCenter(directory: temporary.directory)
        let (gaps, received) = (Awaited([NotificationGap]()), Awaited(0))
        let tokens = [
            center.addConnectionObserver(on: TargetThread.postingThread) { event in
                if case .gap(let gap) = event { gaps.withLock { $0.append(gap) } }
            },
            try center.addObserver(forName: .numbered, on: TargetThread.postingThread) { _ in
                received.withLock { $0 += 1 }
            },
        ]
        try center.synchronize(timeout: TestTimeout.hang)
        try RawPeer(temporary.directory).write(RawPeer.post("n", number: 0, byteCount: 20))
        try center.post(name: .numbered)
        XCTAssertTrue(gaps.wait { !$0.isEmpty } && received.wait { $0 == 1 })
        let problem = "byte 2 of the userInfo: there are bytes after the end"
        XCTAssertEqual(gaps.withLock(\.self), [NotificationGap(count: 1, cause: .unreadable, problem: problem)])
        withExtendedLifetime(tokens) {}
    }

    func testFramesThatComeByteByByteAreServed() throws {
        let observer = try RawPeer(temporary.directory, observing: "slow")
        let poster = try RawPeer(temporary.directory, name: nil)
        var bytes = FrameWriter()
        bytes.hello(suspended: false, name: "drip")
        var seen = Tally()
        for byte in bytes.bytes + RawPeer.post("slow", number: 0) + RawPeer.post("slow", number: 1) {
            try poster.write([byte])
            // Two turns of the server, so that it read the byte alone.
            for _ in 0..<2 { try seen.see(try observer.synchronize()) }
        }
        XCTAssertEqual(seen, Tally(all: 2))
    }

    func testAClientOfAnotherVersionIsToldBothVersionsAndWhatToRestart() throws {
        for (version, answer) in [
            (4, "the program speaks version 4 of the protocol, and the server version 5. Build the program"),
            (6, "the program speaks version 6 of the protocol, and the server version 5. End the server"),
        ] as [(UInt16, String)] {
            let peer = try RawPeer(temporary.directory, name: nil)
            try peer.sayHello(version: version)
            XCTAssertEqual(try peer.farewell().hasPrefix(answer), true)
        }
    }
}
