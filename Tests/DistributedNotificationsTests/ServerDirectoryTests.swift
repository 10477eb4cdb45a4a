import XCTest

@testable import DistributedNotifications

final class ServerDirectoryTests: XCTestCase {
    func testTheRuntimeDirectoryIsUsedIfItIsAbsoluteAndTheUsersOwnOrMissing() {
        for (variable, owner, path) in [
            ("/run/user/7", 7, "/run/user/7/distributed-notifications"),
            ("/run/user/7/", nil, "/run/user/7/distributed-notifications"), ("/", 7, "/distributed-notifications"),
            (nil, 7, "/tmp/distributed-notifications-7"), ("", 7, "/tmp/distributed-notifications-7"),
            ("run/user/7", 7, "/tmp/distributed-notifications-7"),
            // Root too may open it, and would lock its user out.
            ("/run/user/8", 8, "/tmp/distributed-notifications-7"),
        ] as [(String?, UInt32?, String)] {
            let directory = ServerDirectory(runtimeDirectory: variable, user: 7) { _ in owner }
            XCTAssertEqual(
                [directory.path, directory.socketPath, directory.lockPath], [path, "\(path)/socket", "\(path)/lock"])
        }
    }
}
