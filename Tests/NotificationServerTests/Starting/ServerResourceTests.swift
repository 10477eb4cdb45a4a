import Testing

@testable import DistributedNotifications
@testable import NotificationServer

struct ServerResourceTests {
    @Test func theProblemOfALowLimitNamesTheLeastAndHowToRaiseIt() {
        let files = ServerResource.openFiles(ServerLimits())
        #expect(
            files.problem(limit: 14)
                == "it may use 14 open files, and a server needs 128. Raise the hard limit (ulimit -Hn)")
        #expect(files.problem(limit: 128) == nil)
        #expect(files.problem(limit: .max) == nil)
    }

    @Test func aServerForFewProcessesNeedsFewFiles() {
        var limits = ServerLimits()
        for (clients, least) in [(Int.min, 64), (0, 64), (1, 65), (64, 128), (Int.max, 128)] {
            limits.clients = clients
            #expect(ServerResource.openFiles(limits).least == UInt64(least))
        }
    }

    @Test func theWantedLimitIsAtLeastTheLeast() {
        let resources = ServerResource.all(ServerLimits())
        #expect(Set(resources.map(\.number)).count == 4)
        for resource in resources {
            #expect(resource.wanted >= resource.least)
            #expect(resource.problem(limit: resource.wanted) == nil)
            #expect(resource.problem(limit: 0)?.utf8.count ?? 255 < 200)
        }
    }
}
