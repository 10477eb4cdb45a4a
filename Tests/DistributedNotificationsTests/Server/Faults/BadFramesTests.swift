import Foundation
import Glibc
import SharedTesting
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// Frames that violate the protocol: the server refuses their writer with the reason, and other clients are served.
final class BadFramesTests: XCTestCase {
    private var temporary: FaultDirectory!
    private var server: ServerInThisProcess!

    override func setUpWithError() throws {
        temporary = try FaultDirectory()
        server = try ServerInThisProcess(temporary)
    }

    override func tearDown() {
        (server, temporary) = (nil, nil)
    }

    private func refusal(of bytes: [UInt8], hello: Bool = true) throws -> String {
        let peer = try RawPeer(temporary.directory, name: hello ? "bad" : nil)
        try peer.write(bytes)
        let bye = try peer.farewell()
        XCTAssertEqual(bye.reason, .refused)
        return bye.text
    }

    func testAFrameThatViolatesTheProtocolIsRefusedWithTheReasonAndOthersAreServed() throws {
        let healthy = try RawPeer(temporary.directory, name: "healthy")
        func frame(_ kind: FrameKind, _ payload: [UInt8]) -> [UInt8] {
            withUnsafeBytes(of: UInt32(payload.count + 1).littleEndian, Array.init) + [kind.rawValue] + payload
        }
        let longName = [0, 0, 1] + [UInt8](repeating: 97, count: 256)
        let kindZero: [UInt8] = [1, 0, 0, 0, 0]
        let register: [UInt8] = frame(.register, [1, 0, 0, 0, 3, 0])
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
            (frame(.post, [16, 1, 0, 97]), true, "flag of a post"), (frame(.post, longName), true, "at most 255"),
            (frame(.post, [4, 1, 0, 97] + [UInt8](repeating: 0, count: 61_441)), true, "at most 61440"),
            (frame(.register, [1, 0, 0, 0, 9, 0]), true, "suspension behavior"),
            (frame(.register, [1, 0, 0, 0, 3, 4]), true, "flag of an observer"),
            (register + register, true, "second registration with the number 1"),
            (frame(.suspension, [2]), true, "suspension"), (frame(.farewell, [1]), true, "after"),
        ] {
            let text = try refusal(of: bytes, hello: hello)
            XCTAssertTrue(text.contains(why), "\(bytes.prefix(12)): \(text)")
        }
        try healthy.synchronize()
        let status = try temporary.status()
        XCTAssertEqual(status.clients.map(\.name), ["healthy"])
        XCTAssertEqual(status.posted, 0)
    }

    func testAnObserverBeyondTheLimitIsRefused() throws {
        let many = try RawPeer(temporary.directory)
        for number in 0..<UInt32(512) { try many.register(number, name: "a") }
        try many.synchronize()
        try many.register(512, name: "a")
        XCTAssertTrue(try many.farewell().text.contains("more than 512 observers"))
    }

    func testFramesThatComeByteByByteAreServed() throws {
        let observer = try RawPeer(temporary.directory, name: "observer", observing: "slow")
        let poster = try RawPeer(temporary.directory, name: nil)
        var bytes = FrameWriter()
        bytes.hello(suspended: false, name: "drip")
        var numbers: [Int?] = []
        for byte in bytes.bytes + RawPeer.post("slow", number: 7) + RawPeer.post("slow", number: 8) {
            try poster.write([byte])
            // Two turns of the server, so that it read the byte alone.
            for case .frame(.notification, let payload) in try observer.synchronize() + observer.synchronize() {
                numbers.append(try RawPeer.delivered(payload).number)
            }
        }
        XCTAssertEqual(numbers, [7, 8])
    }

    func testAClientThatEndsWithinAFrameIsRemoved() throws {
        let frame = RawPeer.post("half", number: 1, byteCount: 100)
        for count in [1, 3, 4, 5, 60, frame.count - 1] {
            let peer = try RawPeer(temporary.directory, name: "half \(count)")
            try peer.write(Array(frame.prefix(count)))
        }
        XCTAssertTrue(
            server.wait {
                $0.count { if case .clientGone(_, _, "it ended within a frame") = $0 { true } else { false } } == 6
            }, "\(server.events)")
        XCTAssertEqual(try temporary.status().posted, 0)
    }

    // MARK: Versions

    func testAClientWithoutACommonVersionIsToldBothVersionsAndWhatToRestart() throws {
        var (old, new) = (FrameWriter(), FrameWriter())
        // As version 1 had it: one version, and no oldest one.
        old.frame(.hello) {
            $0.integer(Wire.magic)
            $0.integer(UInt16(1))
            $0.integer(UInt8(0))
            $0.string("old")
        }
        XCTAssertEqual(
            try refusal(of: old.bytes, hello: false),
            "the program speaks version 1 of the protocol, and the server version 3. "
                + "Build the program with a newer release of the library, and restart it")
        new.hello(suspended: false, name: "new", versions: ProtocolVersions(oldest: 4, newest: 5))
        XCTAssertEqual(
            try refusal(of: new.bytes, hello: false),
            "the program speaks versions 4 to 5 of the protocol, and the server version 3. "
                + "End the server, so that the next client starts a newer one: kill \(getpid())")
    }

    func testANewerClientThatAlsoSpeaksTheServersVersionIsServedInThatVersion() throws {
        let peer = try RawPeer(temporary.directory, name: nil)
        var hello = FrameWriter()
        hello.hello(suspended: false, name: "new", versions: ProtocolVersions(oldest: 1, newest: 9))
        try peer.write(hello.bytes)
        guard case .frame(.welcome, let payload) = try peer.next() else { return XCTFail("no welcome") }
        XCTAssertEqual(payload.prefix(2), [3, 0])
    }
}
