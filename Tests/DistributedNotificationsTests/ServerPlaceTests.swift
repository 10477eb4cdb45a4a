import Foundation
import XCTest

@testable import DistributedNotifications

final class ServerPlaceTests: XCTestCase {
    private func directory(_ variable: String?, owner: UInt32?) -> String {
        ServerPlace(runtimeDirectory: variable, user: 7) { _ in owner }.directory
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
            let place = ServerPlace(runtimeDirectory: runtimeDirectory, user: 7) { _ in 7 }
            XCTAssertEqual(place.directory, "/tmp/distributed-notifications-7")
            XCTAssertEqual(place.socketPath, "/tmp/distributed-notifications-7/socket")
            XCTAssertEqual(place.lockPath, "/tmp/distributed-notifications-7/lock")
        }
    }

    func testTheRuntimeDirectoryOfAnotherUserIsIgnored() {
        XCTAssertEqual(directory("/run/user/8", owner: 8), "/tmp/distributed-notifications-7")
        // Root too may open it, and would lock its user out.
        XCTAssertEqual(
            ServerPlace(runtimeDirectory: "/run/user/8", user: 0) { _ in 8 }.directory,
            "/tmp/distributed-notifications-0")
    }
}
