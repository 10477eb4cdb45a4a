import Foundation
import Testing

@testable import DistributedNotifications

struct ServerPlaceTests {
    private func directory(_ variable: String?, owner: UInt32?) -> String {
        ServerPlace(runtimeDirectory: variable, user: 7) { _ in owner }.directory
    }

    @Test(arguments: [7, nil] as [UInt32?])
    func theRuntimeDirectoryIsUsedIfItIsAnAbsolutePathOfTheUsersOwnOrOfNothing(owner: UInt32?) {
        #expect(directory("/run/user/7", owner: owner) == "/run/user/7/distributed-notifications")
        #expect(directory("/run/user/7/", owner: owner) == "/run/user/7/distributed-notifications")
        #expect(directory("/", owner: owner) == "/distributed-notifications")
    }

    @Test(arguments: [nil, "", "run/user/7"])
    func otherwiseItIsADirectoryOfTheUsersOwn(runtimeDirectory: String?) {
        let place = ServerPlace(runtimeDirectory: runtimeDirectory, user: 7) { _ in 7 }
        #expect(place.directory == "/tmp/distributed-notifications-7")
        #expect(place.socketPath == "/tmp/distributed-notifications-7/socket")
        #expect(place.lockPath == "/tmp/distributed-notifications-7/lock")
    }

    @Test func theRuntimeDirectoryOfAnotherUserIsIgnored() {
        #expect(directory("/run/user/8", owner: 8) == "/tmp/distributed-notifications-7")
        // Root too may open it, and would lock its user out.
        #expect(
            ServerPlace(runtimeDirectory: "/run/user/8", user: 0) { _ in 8 }.directory
                == "/tmp/distributed-notifications-0")
    }
}
