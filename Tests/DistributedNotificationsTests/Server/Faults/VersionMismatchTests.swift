import Glibc
import SharedTesting
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// A client and a server that have no version of the protocol in common.
final class VersionMismatchTests: XCTestCase {
    private func refusal(_ hello: FrameWriter) throws -> String {
        let temporary = try FaultDirectory()
        let server = try ServerInThisProcess(temporary)
        let peer = try RawPeer(temporary.directory, name: nil)
        try peer.write(hello.bytes)
        let bye = try peer.farewell()
        XCTAssertEqual(bye.reason, .refused)
        withExtendedLifetime(server) {}
        return bye.text
    }

    func testAnOlderClientIsToldBothVersionsAndToRestartItself() throws {
        var hello = FrameWriter()
        // As version 1 had it: one version, and no oldest one.
        hello.frame(.hello) {
            $0.integer(Wire.magic)
            $0.integer(UInt16(1))
            $0.integer(UInt8(0))
            $0.string("old")
        }
        XCTAssertEqual(
            try refusal(hello),
            "the program speaks version 1 of the protocol, and the server version 3. "
                + "Build the program with a newer release of the library, and restart it")
    }

    func testANewerClientIsToldBothVersionsAndToEndTheServer() throws {
        var hello = FrameWriter()
        hello.hello(suspended: false, name: "new", versions: ProtocolVersions(oldest: 4, newest: 5))
        XCTAssertEqual(
            try refusal(hello),
            "the program speaks versions 4 to 5 of the protocol, and the server version 3. "
                + "End the server, so that the next client starts a newer one: kill \(getpid())")
    }

    func testANewerClientThatAlsoSpeaksTheServersVersionIsServedInThatVersion() throws {
        let temporary = try FaultDirectory()
        let server = try ServerInThisProcess(temporary)
        let peer = try RawPeer(temporary.directory, name: nil)
        var hello = FrameWriter()
        hello.hello(suspended: false, name: "new", versions: ProtocolVersions(oldest: 1, newest: 9))
        try peer.write(hello.bytes)
        guard case .frame(.welcome, let payload) = try peer.next() else { return XCTFail("no welcome") }
        XCTAssertEqual(payload.prefix(2), [3, 0])
        withExtendedLifetime(server) {}
    }
}
