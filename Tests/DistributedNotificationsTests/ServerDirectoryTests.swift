import Glibc
import SharedTesting
import XCTest

@testable import DistributedNotifications

final class ServerDirectoryTests: XCTestCase {
    func testTheRuntimeDirectoryIsUsedIfItIsAbsoluteAndTheUsersOwnOrMissing() throws {
        let temporary = try TemporaryDirectory()
        let (own, missing, others) = (temporary.parent, "\(temporary.parent)/missing", "\(temporary.parent)/others")
        mkdir(others, 0o700)
        let isOthers = chown(others, OtherUser.number, 0) == 0
        let before = getenv("XDG_RUNTIME_DIR").map { String(cString: $0) }
        defer { if let before { setenv("XDG_RUNTIME_DIR", before, 1) } else { unsetenv("XDG_RUNTIME_DIR") } }
        for (variable, parent) in [
            (own, own), (missing, missing), ("", nil), ("run/user", nil),
            // Root too may open it, and would lock its user out.
            (others, isOthers ? nil : others),
        ] as [(String, String?)] {
            setenv("XDG_RUNTIME_DIR", variable, 1)
            let path = parent.map { "\($0)/distributed-notifications" } ?? "/tmp/distributed-notifications-\(geteuid())"
            let directory = ServerDirectory.default
            XCTAssertEqual(
                [directory.path, directory.socketPath, directory.lockPath], [path, "\(path)/socket", "\(path)/lock"])
        }
        unsetenv("XDG_RUNTIME_DIR")
        XCTAssertEqual(ServerDirectory.default.path, "/tmp/distributed-notifications-\(geteuid())")
    }
}
