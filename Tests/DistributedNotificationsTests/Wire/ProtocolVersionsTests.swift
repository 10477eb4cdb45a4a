import XCTest

@testable import DistributedNotifications

final class ProtocolVersionsTests: XCTestCase {
    private func versions(_ oldest: UInt16, _ newest: UInt16) -> ProtocolVersions {
        ProtocolVersions(oldest: oldest, newest: newest)
    }

    func testTheNewestVersionThatBothSpeakIsUsed() {
        XCTAssertEqual(versions(2, 4).newestCommon(with: versions(3, 7)), 4)
        XCTAssertEqual(versions(3, 7).newestCommon(with: versions(2, 4)), 4)
        XCTAssertEqual(versions(2, 2).newestCommon(with: versions(2, 2)), 2)
        XCTAssertEqual(versions(1, 9).newestCommon(with: versions(5, 6)), 6)
    }

    func testWithoutACommonVersionThereIsNone() {
        XCTAssertNil(versions(2, 3).newestCommon(with: versions(4, 5)))
        XCTAssertNil(versions(4, 5).newestCommon(with: versions(2, 3)))
        XCTAssertNil(versions(5, 4).newestCommon(with: versions(5, 4)))
    }

    func testAnOldClientIsToldToRestartItself() {
        XCTAssertEqual(
            ProtocolVersions.mismatch(client: versions(1, 1), server: versions(2, 4), serverProcess: 7),
            "the program speaks version 1 of the protocol, and the server versions 2 to 4. "
                + "Build the program with a newer release of the library, and restart it")
    }

    func testAClientOfAnOldServerIsToldToEndTheServer() {
        XCTAssertEqual(
            ProtocolVersions.mismatch(client: versions(3, 3), server: versions(2, 2), serverProcess: 7),
            "the program speaks version 3 of the protocol, and the server version 2. "
                + "End the server, so that the next client starts a newer one: kill 7")
    }
}
