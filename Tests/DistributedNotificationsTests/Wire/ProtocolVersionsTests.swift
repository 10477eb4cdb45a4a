import XCTest

@testable import DistributedNotifications

final class ProtocolVersionsTests: XCTestCase {
    func testTheNewestVersionThatBothSpeakIsUsed() {
        for (one, other, common) in [
            ((2, 4), (3, 7), 4), ((2, 2), (2, 2), 2), ((1, 9), (5, 6), 6), ((2, 3), (4, 5), nil), ((5, 4), (5, 4), nil),
        ] as [((UInt16, UInt16), (UInt16, UInt16), UInt16?)] {
            let one = ProtocolVersions(oldest: one.0, newest: one.1)
            let other = ProtocolVersions(oldest: other.0, newest: other.1)
            XCTAssertEqual([one.newestCommon(with: other), other.newestCommon(with: one)], [common, common])
        }
    }

    func testWithoutACommonVersionTheOlderProgramIsToBeRestarted() {
        for (client, server, text) in [
            (1, 3, "the program speaks version 1 of the protocol, and the server version 3. Build the program with"),
            (3, 2, "the program speaks version 3 of the protocol, and the server version 2. End the server, so that"),
        ] as [(UInt16, UInt16, String)] {
            let problem = ProtocolVersions.mismatch(
                client: ProtocolVersions(oldest: client, newest: client),
                server: ProtocolVersions(oldest: server, newest: server), serverProcess: 7)
            XCTAssertTrue(problem.hasPrefix(text), problem)
        }
    }
}
