import Testing

@testable import DistributedNotifications

struct ServerPlaceTests {
    @Test func theRuntimeDirectoryIsUsedIfItIsAWholePath() {
        #expect(ServerPlace(runtimeDirectory: "/run/user/7", user: 7).directory == "/run/user/7/notify-demo")
        #expect(ServerPlace(runtimeDirectory: "/run/user/7/", user: 7).directory == "/run/user/7/notify-demo")
        #expect(ServerPlace(runtimeDirectory: "/", user: 7).directory == "/notify-demo")
    }

    @Test(arguments: [nil, "", "run/user/7"])
    func otherwiseItIsADirectoryOfTheUsersOwn(runtimeDirectory: String?) {
        let place = ServerPlace(runtimeDirectory: runtimeDirectory, user: 7)
        #expect(place.directory == "/tmp/notify-demo-7")
        #expect(place.socketPath == "/tmp/notify-demo-7/socket")
        #expect(place.lockPath == "/tmp/notify-demo-7/lock")
    }
}
