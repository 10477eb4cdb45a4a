import Foundation
import XCTest

@testable import DistributedNotifications

final class ServerDirectoryTests: XCTestCase {
    private func directory(_ variable: String?, owner: UInt32?) -> String {
        ServerDirectory(runtimeDirectory: variable, user: 7) { _ in owner }.path
    }

    func testTheRuntimeDirectoryIsUsedIfItIsAbsoluteAndTheUsersOwnOrMissing() {
        for owner in [7, nil] as [UInt32?] {
            XCTAssertEqual(directory("/run/user/7", owner: owner), "/run/user/7/distributed-notifications")
            XCTAssertEqual(directory("/run/user/7/", owner: owner), "/run/user/7/distributed-notifications")
            XCTAssertEqual(directory("/", owner: owner), "/distributed-notifications")
        }
    }

    func testOtherwiseItIsADirectoryOfTheUsersOwn() {
        for runtimeDirectory in [nil, "", "run/user/7"] {
            let directory = ServerDirectory(runtimeDirectory: runtimeDirectory, user: 7) { _ in 7 }
            XCTAssertEqual(directory.path, "/tmp/distributed-notifications-7")
            XCTAssertEqual(directory.socketPath, "/tmp/distributed-notifications-7/socket")
            XCTAssertEqual(directory.lockPath, "/tmp/distributed-notifications-7/lock")
        }
    }

    func testTheRuntimeDirectoryOfAnotherUserIsIgnored() {
        XCTAssertEqual(directory("/run/user/8", owner: 8), "/tmp/distributed-notifications-7")
        // Root too may open it, and would lock its user out.
        XCTAssertEqual(
            ServerDirectory(runtimeDirectory: "/run/user/8", user: 0) { _ in 8 }.path,
            "/tmp/distributed-notifications-0")
    }
}
