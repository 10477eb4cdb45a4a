import Foundation
import Glibc
import SharedTesting
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// Frames that violate the protocol: the server refuses their writer, and other clients are not affected.
final class BadFramesTests: XCTestCase {
    private func refusal(of bytes: [UInt8], hello: Bool = true, _ temporary: FaultDirectory) throws -> String {
        let peer = try RawPeer(temporary.directory, name: hello ? "bad" : nil)
        try peer.write(bytes)
        let bye = try peer.farewell()
        XCTAssertEqual(bye.reason, .refused)
        return bye.text
    }

    func testAFrameOfAnImpossibleLengthIsRefusedAndOtherClientsAreServed() throws {
        let temporary = try FaultDirectory()
        let server = try ServerInThisProcess(temporary)
        let healthy = try RawPeer(temporary.directory, name: "healthy")
        for (bytes, length): ([UInt8], String) in [
            ([0, 0, 0, 0], "0"), ([255, 255, 255, 255], "4294967295"), ([1, 0, 1, 0], "65537"),
        ] {
            for hello in [true, false] {
                let text = try refusal(of: bytes, hello: hello, temporary)
                XCTAssertEqual(text, "it wrote a frame of \(length) bytes, and a frame has 1 to 65536")
            }
        }
        try healthy.synchronize()
        withExtendedLifetime(server) {}
    }

    func testFramesThatComeByteByByteAreServed() throws {
        let temporary = try FaultDirectory()
        let server = try ServerInThisProcess(temporary)
        let observer = try RawPeer(temporary.directory, name: "observer")
        try observer.register(1, name: "slow")
        try observer.synchronize()
        let poster = try RawPeer(temporary.directory, name: nil)
        var bytes = FrameWriter()
        bytes.hello(suspended: false, name: "drip")
        var numbers: [Int?] = []
        for byte in bytes.bytes + RawPeer.post("slow", number: 7) + RawPeer.post("slow", number: 8) {
            try poster.write([byte])
            // Two turns of the server, so that it read the byte alone.
            for received in try observer.synchronize() + observer.synchronize() {
                guard case .frame(.notification, let payload) = received else { continue }
                numbers.append(try RawPeer.delivered(payload).number)
            }
        }
        XCTAssertEqual(numbers, [7, 8])
        withExtendedLifetime(server) {}
    }

    func testAClientThatEndsWithinAFrameIsRemoved() throws {
        let temporary = try FaultDirectory()
        let server = try ServerInThisProcess(temporary)
        let frame = RawPeer.post("half", number: 1, byteCount: 100)
        for count in [1, 3, 4, 5, 60, frame.count - 1] {
            let peer = try RawPeer(temporary.directory, name: "half \(count)")
            try peer.write(Array(frame.prefix(count)))
        }
        XCTAssertTrue(
            server.wait {
                $0.count { if case .clientGone(_, _, "it ended within a frame") = $0 { true } else { false } } == 6
            }, "\(server.events)")
        let status = try temporary.status()
        XCTAssertEqual(status.clients, [])
        XCTAssertEqual(status.posted, 0)
    }

    func testFramesThatViolateTheProtocolAreRefusedWithTheReason() throws {
        let temporary = try FaultDirectory()
        let server = try ServerInThisProcess(temporary)
        func frame(_ kind: UInt8, _ payload: [UInt8]) -> [UInt8] {
            withUnsafeBytes(of: UInt32(payload.count + 1).littleEndian, Array.init) + [kind] + payload
        }
        let longName = [0, 0, 1] + [UInt8](repeating: 97, count: 256)
        for (bytes, why): ([UInt8], String) in [
            (frame(0, []), "kind of frame"), (frame(200, []), "kind of frame"),
            (frame(FrameKind.notification.rawValue, []), "kind of frame"),
            (frame(FrameKind.hello.rawValue, []), "where none may be"),
            (frame(FrameKind.post.rawValue, []), "ends before"),
            (frame(FrameKind.post.rawValue, [0, 0, 0]), "an empty name"),
            (frame(FrameKind.post.rawValue, [0, 1, 0, 0]), "NUL"),
            (frame(FrameKind.post.rawValue, [0, 1, 0, 0xFF]), "not UTF-8"),
            (frame(FrameKind.post.rawValue, [0, 5, 0, 97]), "ends before"),
            (frame(FrameKind.post.rawValue, [0, 1, 0, 97, 1]), "after its parts"),
            (frame(FrameKind.post.rawValue, [16, 1, 0, 97]), "flag of a post"),
            (frame(FrameKind.post.rawValue, longName), "at most 255"),
            (frame(FrameKind.post.rawValue, [4, 1, 0, 97] + [UInt8](repeating: 0, count: 61_441)), "at most 61440"),
            (frame(FrameKind.register.rawValue, [1, 0, 0, 0, 9, 0]), "suspension behavior"),
            (frame(FrameKind.register.rawValue, [1, 0, 0, 0, 3, 4]), "flag of an observer"),
            (frame(FrameKind.suspension.rawValue, [2]), "suspension"),
            (frame(FrameKind.farewell.rawValue, [1]), "after"),
        ] {
            let text = try refusal(of: bytes, temporary)
            XCTAssertTrue(text.contains(why), "\(bytes.prefix(12)): \(text)")
        }
        for (bytes, why): ([UInt8], String) in [
            (frame(FrameKind.post.rawValue, [0, 1, 0, 97]), "where none may be"),
            (frame(FrameKind.hello.rawValue, [UInt8](repeating: 1, count: 9)), "another protocol"),
            (Array("GET / HTTP/1.1\r\n\r\n".utf8), "a frame of"),
        ] {
            let text = try refusal(of: bytes, hello: false, temporary)
            XCTAssertTrue(text.contains(why), "\(bytes.prefix(12)): \(text)")
        }
        withExtendedLifetime(server) {}
    }

    func testADuplicateObserverNumberAndAnObserverBeyondTheLimitAreRefused() throws {
        let temporary = try FaultDirectory()
        let server = try ServerInThisProcess(temporary)
        let twice = try RawPeer(temporary.directory)
        try twice.register(1, name: "a")
        try twice.register(1, name: "b")
        XCTAssertTrue(try twice.farewell().text.contains("second registration with the number 1"))
        let many = try RawPeer(temporary.directory)
        for number in 0..<UInt32(512) { try many.register(number, name: "a") }
        try many.synchronize()
        try many.register(512, name: "a")
        XCTAssertTrue(try many.farewell().text.contains("more than 512 observers"))
        withExtendedLifetime(server) {}
    }

    func testAClientWithoutHelloIsDisconnectedAtTheTimeoutAndOthersAreNot() throws {
        let temporary = try FaultDirectory()
        var limits = ServerLimits()
        limits.helloTimeout = .milliseconds(100)
        let server = try ServerInThisProcess(temporary, limits: limits)
        // On a busy machine one may be too late, and is told to go.
        var inTime: RawPeer?
        XCTAssertTrue(
            eventually {
                inTime = try? RawPeer(temporary.directory, name: "spoke")
                return inTime != nil
            })
        let spoke = try XCTUnwrap(inTime)
        let silent = try RawPeer(temporary.directory, name: nil)
        let slow = try RawPeer(temporary.directory, name: nil)
        try? slow.write([9])
        for peer in [silent, slow] {
            let bye = try peer.farewell()
            XCTAssertEqual(bye.reason, .refused)
            XCTAssertTrue(bye.text.contains("it said nothing for 0.1 seconds"), bye.text)
        }
        try spoke.synchronize()
        withExtendedLifetime(server) {}
    }
}
