import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

final class ServerResourceTests: XCTestCase {
    func testTheProblemOfALowLimitNamesTheLeastAndHowToRaiseIt() {
        let files = ServerResource.openFiles(ServerLimits())
        XCTAssertEqual(
            files.problem(limit: 14),
            "it may use 14 open files, and a server needs 128. Raise the hard limit (ulimit -Hn)")
        XCTAssertNil(files.problem(limit: 128))
        XCTAssertNil(files.problem(limit: .max))
    }

    func testAServerForFewProcessesNeedsFewFiles() {
        var limits = ServerLimits()
        for (clients, least) in [(Int.min, 64), (0, 64), (1, 65), (64, 128), (Int.max, 128)] {
            limits.clients = clients
            XCTAssertEqual(ServerResource.openFiles(limits).least, UInt64(least))
        }
    }

    func testTheWantedLimitIsAtLeastTheLeast() {
        let resources = ServerResource.all(ServerLimits())
        XCTAssertEqual(Set(resources.map(\.number)).count, 4)
        for resource in resources {
            XCTAssertGreaterThanOrEqual(resource.wanted, resource.least)
            XCTAssertNil(resource.problem(limit: resource.wanted))
            XCTAssertLessThan(resource.problem(limit: 0)?.utf8.count ?? 255, 200)
        }
    }
}
