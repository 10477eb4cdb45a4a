import NotificationCompatibility
import SharedTesting
import XCTest

final class DistributedNotificationCenterTests: XCTestCase {
    private static let name = Notification.Name("com.example.saved")

    private var directory: FaultDirectory?

    override func tearDown() {
        directory = nil
    }

    /// A center over another one, with a server of its own. Its errors fail the test.
    private func makeCenters() throws -> (DistributedCenter, DistributedNotificationCenter) {
        let directory = try self.directory ?? FaultDirectory()
        self.directory = directory
        let distributed = try DistributedCenter(directory: directory.directory, limits: .patient)
        let center = DistributedNotificationCenter(distributed)
        center.errorHandler = { XCTFail("\($0)") }
        return (distributed, center)
    }

    func testTheDefaultCenterIsOneObject() {
        XCTAssertTrue(DistributedNotificationCenter.default() === DistributedNotificationCenter.default())
    }

    func testABlockGetsTheNotificationAsItWasPostedOnTheMainThread() throws {
        let (_, center) = try makeCenters()
        let received = expectation(description: "received")
        let userInfo: [AnyHashable: Any] = [
            "path": "/tmp/a", "sizes": [1, 2.5] as [Any], "isFinal": true, "data": Data([1, 2]),
        ]
        center.addObserver(forName: Self.name, object: "Editor", queue: .main) { notification in
            XCTAssertTrue(Thread.isMainThread)
            XCTAssertEqual(notification.name, Self.name)
            XCTAssertEqual(notification.object as? String, "Editor")
            XCTAssertEqual(notification.userInfo?["path"] as? String, "/tmp/a")
            XCTAssertEqual(notification.userInfo?["isFinal"] as? Bool, true)
            XCTAssertEqual((notification.userInfo?["sizes"] as? [Any])?.last as? Double, 2.5)
            XCTAssertEqual(notification.userInfo?["data"] as? Data, Data([1, 2]))
            received.fulfill()
        }
        center.post(name: Self.name, object: "Viewer", userInfo: userInfo)
        center.postNotificationName(Self.name, object: "Editor", userInfo: userInfo, deliverImmediately: true)
        wait(for: [received], timeout: TestTimeout.seconds)
    }

    func testEveryWayOfPostingReachesAnObserver() throws {
        let (_, center) = try makeCenters()
        let log = Log()
        let received = expectation(description: "received")
        received.expectedFulfillmentCount = 5
        center.addObserver(forName: nil, object: nil, queue: nil) { notification in
            log.write("\(notification.object as? String ?? "-")")
            received.fulfill()
        }
        center.post(name: Self.name, object: "1")
        center.post(name: Self.name, object: "2", userInfo: [:], deliverImmediately: true)
        center.postNotificationName(Self.name, object: "3", deliverImmediately: false)
        center.postNotificationName(Self.name, object: "4", options: [.deliverImmediately, .postToAllSessions])
        center.post(Notification(name: Self.name, object: "5"))
        wait(for: [received], timeout: TestTimeout.seconds)
        XCTAssertEqual(log.lines, ["1", "2", "3", "4", "5"])
    }

    func testAQueuesOperationsAreOneAtATimeAndInOrderAndACancelledOneDoesNotStopTheNext() throws {
        let (_, center) = try makeCenters()
        let (queue, log) = (OperationQueue(), Log())
        let (first, mayContinue) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let last = expectation(description: "the last was received")
        center.addObserver(forName: Self.name, object: nil, queue: queue) { notification in
            let object = notification.object as? String ?? "-"
            XCTAssertFalse(Thread.isMainThread)
            log.write(object)
            if object == "0" {
                first.signal()
                mayContinue.wait()
                // The next notification becomes an operation that does not begin.
                queue.isSuspended = true
            }
            if object == "100" { last.fulfill() }
        }
        center.post(name: Self.name, object: "0")
        XCTAssertEqual(first.wait(timeout: .now() + TestTimeout.seconds), .success)
        for number in 1...100 { center.post(name: Self.name, object: "\(number)") }
        XCTAssertEqual(queue.operationCount, 1)
        mayContinue.signal()
        XCTAssertTrue(eventually { queue.operations.first.map { !$0.isExecuting && !$0.isFinished } ?? false })
        queue.cancelAllOperations()
        queue.isSuspended = false
        wait(for: [last], timeout: TestTimeout.seconds)
        XCTAssertEqual(log.lines, (0...100).filter { $0 != 1 }.map { "\($0)" })
    }

    func testTheCenterRetainsAnObserverUntilItIsRemoved() throws {
        let (distributed, center) = try makeCenters()
        let log = Log()
        weak var released: (any NSObjectProtocol)?
        do {
            let kept = center.addObserver(forName: Self.name, object: "a", queue: nil) { _ in log.write("a") }
            center.addObserver(forName: Self.name, object: "b", queue: nil) { _ in log.write("b") }
            released = kept
        }
        XCTAssertNotNil(released)
        center.post(name: Self.name, object: "a")
        center.post(name: Self.name, object: "b")
        run(distributed) { log.lines == ["a", "b"] }

        // Another name, another object, and objects that are no observers.
        if let released { center.removeObserver(released, name: Notification.Name("another"), object: nil) }
        if let released { center.removeObserver(released, name: nil, object: "b") }
        center.removeObserver(self)
        center.removeObserver("a")
        center.removeObserver(NSObject(), name: nil, object: nil)
        center.post(name: Self.name, object: "a")
        run(distributed) { log.lines == ["a", "b", "a"] }

        if let released { center.removeObserver(released, name: Self.name, object: "a") }
        XCTAssertNil(released)
        center.post(name: Self.name, object: "a")
        center.post(name: Self.name, object: "b")
        run(distributed) { log.lines == ["a", "b", "a", "b"] }
    }

    func testSuspensionDoesWhatEachObserverAskedFor() throws {
        let (distributed, center) = try makeCenters()
        let log = Log()
        let behaviors: [(String, DistributedNotificationCenter.SuspensionBehavior)] = [
            ("drop", .drop), ("coalesce", .coalesce), ("hold", .hold),
        ]
        for (object, behavior) in behaviors {
            center.addObserver(
                forName: Self.name, object: object, suspensionBehavior: behavior, queue: nil
            ) { log.write("\(object) \($0.userInfo?["number"] as? Int ?? 0)") }
        }
        XCTAssertFalse(center.suspended)
        center.suspended = true
        XCTAssertTrue(center.suspended)
        for (object, _) in behaviors {
            for number in 1...2 { center.post(name: Self.name, object: object, userInfo: ["number": number]) }
        }
        try distributed.synchronize(timeout: TestTimeout.hang)
        _ = RunLoop.main.run(mode: .default, before: Date())
        XCTAssertEqual(log.lines, [])
        center.suspended = false
        run(distributed) { log.lines.count == 3 }
        XCTAssertEqual(log.lines, ["coalesce 2", "hold 1", "hold 2"])
    }

    func testACallThatFailsReportsItsErrorAndDoesNothing() throws {
        let center = DistributedNotificationCenter(try DistributedCenter(directory: FaultDirectory().directory))
        let errors = Awaited([DistributedError.Code]())
        center.errorHandler = { error in errors.withLock { $0.append(error.code) } }
        let long = String(repeating: "x", count: 5000)
        center.post(name: Notification.Name(""), object: nil)
        center.post(name: Self.name, object: long)
        center.post(Notification(name: Self.name, object: self))
        center.post(name: Self.name, object: nil, userInfo: ["self": self])
        center.post(name: Self.name, object: nil, userInfo: [1: "a key that is no string"])
        let observer = center.addObserver(forName: nil, object: long, queue: nil) { _ in XCTFail("it observes") }
        center.removeObserver(observer)
        XCTAssertEqual(
            errors.withLock(\.self),
            [
                .nameNotUsable, .objectNotUsable, .objectNotUsable, .userInfoNotUsable, .userInfoNotUsable,
                .objectNotUsable,
            ])
    }

    func testAnObserverWithoutAServerReportsWhy() throws {
        let directory = ServerDirectory(path: "/nowhere/\(UInt32.random(in: 0...UInt32.max))/directory")
        let center = DistributedNotificationCenter(try DistributedCenter(directory: directory))
        let errors = Awaited([DistributedError.Code]())
        center.errorHandler = { error in errors.withLock { $0.append(error.code) } }
        center.addObserver(forName: Self.name, object: nil, queue: nil) { _ in XCTFail("there is no server") }
        XCTAssertTrue(errors.wait { $0.contains(.pathNotUsable) })
    }

    /// Runs the main run loop until a condition holds, after the server has done all that was asked for.
    private func run(_ center: DistributedCenter, until condition: () -> Bool) {
        XCTAssertNoThrow(try center.synchronize(timeout: TestTimeout.hang))
        let limit = Date(timeIntervalSinceNow: TestTimeout.seconds)
        while !condition(), Date() < limit {
            _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 1))
        }
        XCTAssertTrue(condition())
    }
}
