import NotificationCompatibility
import SharedTesting
import XCTest

final class DistributedNotificationCenterTests: XCTestCase {
    private static let name = Notification.Name("com.example.saved")

    private let directory: TemporaryDirectory! = try? TemporaryDirectory()
    private let log = Log()
    private var distributed: DistributedCenter!
    /// Its errors fail the test.
    private var center: DistributedNotificationCenter!

    override func setUpWithError() throws {
        distributed = try DistributedCenter(directory: directory.directory, postTimeout: TestTimeout.hang)
        center = DistributedNotificationCenter(distributed)
        center.errorHandler = { XCTFail("\($0)") }
    }

    override func tearDown() { (center, distributed) = (nil, nil) }

    /// Runs the main run loop until these lines are logged, after the server has done all that was asked for.
    private func assertLogged(_ lines: [String], line: UInt = #line) {
        XCTAssertNoThrow(try distributed.synchronize(timeout: TestTimeout.hang))
        _ = RunLoop.runCurrent { [log] in log.lines.count >= lines.count }
        _ = RunLoop.main.run(mode: .default, before: .distantPast)
        XCTAssertEqual(log.lines, lines, line: line)
    }

    func testEveryWayOfPostingReachesAnObserverOnTheMainThread() throws {
        nonisolated(unsafe) let userInfo: [AnyHashable: Any] = [
            "path": "/tmp/a", "sizes": [1, 2.5] as [Any], "isFinal": true, "data": Data([1, 2]),
        ]
        center.addObserver(forName: Self.name, object: "4", queue: .main) { notification in
            XCTAssertEqual(notification.userInfo as NSDictionary?, userInfo as NSDictionary)
        }
        center.addObserver(forName: nil, object: nil, queue: nil) { [log] notification in
            XCTAssertTrue(Thread.isMainThread)
            XCTAssertEqual(notification.name, Self.name)
            log.write("\(notification.object ?? "-") \(notification.userInfo?.count ?? 0)")
        }
        center.post(name: Self.name, object: nil)
        center.post(name: Self.name, object: "2", userInfo: [:], deliverImmediately: true)
        center.postNotificationName(Self.name, object: "3", deliverImmediately: false)
        center.postNotificationName(
            Self.name, object: "4", userInfo: userInfo, options: [.deliverImmediately, .postToAllSessions])
        center.post(Notification(name: Self.name, object: "5"))
        assertLogged(["- 0", "2 0", "3 0", "4 4", "5 0"])
        XCTAssertTrue(DistributedNotificationCenter.default() === DistributedNotificationCenter.default())
    }

    func testAQueuesOperationsAreOneAtATimeAndInOrderAndACancelledOneDoesNotStopTheNext() throws {
        let (queue, log) = (OperationQueue(), log)
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
        weak var released: (any NSObjectProtocol)?
        do {
            let kept = center.addObserver(forName: Self.name, object: "a", queue: nil) { [log] _ in log.write("a") }
            released = kept
        }
        center.addObserver(forName: Self.name, object: "b", queue: nil) { [log] _ in log.write("b") }
        func post() { for object in ["a", "b"] { center.post(name: Self.name, object: object) } }
        post()
        assertLogged(["a", "b"])
        // Another name, another object, and objects that are no observers.
        if let released { center.removeObserver(released, name: Notification.Name("another"), object: nil) }
        if let released { center.removeObserver(released, name: nil, object: "b") }
        for other in [self, "a", NSObject()] as [Any] { center.removeObserver(other) }
        post()
        assertLogged(["a", "b", "a", "b"])
        if let released { center.removeObserver(released, name: Self.name, object: "a") }
        XCTAssertNil(released)
        post()
        assertLogged(["a", "b", "a", "b", "b"])
    }

    func testSuspensionDoesWhatEachObserverAskedFor() throws {
        let behaviors = DistributedNotificationCenter.SuspensionBehavior.allCases.filter { $0 != .deliverImmediately }
        for behavior in behaviors {
            center.addObserver(
                forName: Self.name, object: behavior.rawValue, suspensionBehavior: behavior, queue: nil
            ) { [log] in log.write("\($0.object ?? "-") \($0.userInfo?["number"] ?? 0)") }
        }
        XCTAssertFalse(center.suspended)
        center.suspended = true
        XCTAssertTrue(center.suspended)
        for behavior in behaviors {
            for number in 1...2 {
                center.post(name: Self.name, object: behavior.rawValue, userInfo: ["number": number])
            }
        }
        assertLogged([])
        center.suspended = false
        assertLogged(["coalesce 2", "hold 1", "hold 2"])
    }

    func testACallThatFailsReportsItsErrorAndDoesNothing() throws {
        let directory = ServerDirectory(path: "/nowhere/\(UInt32.random(in: 0...UInt32.max))/directory")
        let center = DistributedNotificationCenter(try DistributedCenter(directory: directory))
        let errors = Awaited([DistributedError.Code]())
        center.errorHandler = { error in errors.withLock { $0.append(error.code) } }
        let long = String(repeating: "x", count: 5000)
        center.post(name: Notification.Name(""), object: nil)
        center.post(name: Self.name, object: long)
        center.post(Notification(name: Self.name, object: self))
        center.post(name: Self.name, object: nil, userInfo: ["self": self])
        center.post(name: Self.name, object: nil, userInfo: [1: "a key that is no string"])
        center.removeObserver(center.addObserver(forName: nil, object: long, queue: nil) { _ in XCTFail("observes") })
        XCTAssertEqual(
            errors.withLock(\.self),
            [
                .nameNotUsable, .objectNotUsable, .objectNotUsable, .userInfoNotUsable, .userInfoNotUsable,
                .objectNotUsable,
            ])
        center.addObserver(forName: Self.name, object: nil, queue: nil) { _ in XCTFail("there is no server") }
        XCTAssertTrue(errors.wait { $0.last == .pathNotUsable })
    }
}
