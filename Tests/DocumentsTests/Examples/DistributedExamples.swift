import DistributedNotifications
import DistributedTesting
import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

/// The examples of the README's section on notifications between processes, compiled and run with a server of their
/// own.
final class ReadmeExampleTests: XCTestCase {
    private let printed = Locked<[String]>([])

    private static let directory = "/tmp/readme-\(getpid())"

    // The default center reads the variable at its first use.
    override class func setUp() {
        try? FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        setenv("XDG_RUNTIME_DIR", directory, 1)
        _ = try? DistributedCenter.default
        unsetenv("XDG_RUNTIME_DIR")
    }

    override class func tearDown() {
        let center = try? DistributedCenter.default
        if case .connected(let server) = center?.connectionState { kill(server, SIGTERM) }
        center?.close()
        try? FileManager.default.removeItem(atPath: directory)
    }

    func testTheProgramPrintsTheLineInTheReadme() throws {
        let printed = printed
        @Sendable func print(_ line: String) { printed.withLock { $0.append(line) } }

        // README: begin
        let center = try DistributedCenter.default
        let dishReady = Notification.Name("DishReady")

        let waiter = try center.addObserver(forName: dishReady, object: "Kitchen") { notification in
            let dish = notification.userInfo?["dish"]?.stringValue ?? "something"
            print("\(dish) is served on \(ThreadIdentity.current)")
        }

        try center.post(name: dishReady, object: "Kitchen", userInfo: ["dish": "soup", "portions": 3])
        while waiter.counters.delivered == 0, RunLoop.main.run(mode: .default, before: .distantFuture) {}
        // README: end

        XCTAssertEqual(printed.withLock { $0 }, ["soup is served on {number = 1, name = main}"])
        waiter.cancel()
    }

    func testSuspendedObserversReceiveTheirNotifications() throws {
        let printed = printed
        @Sendable func print(_ line: String) { printed.withLock { $0.append(line) } }
        let (center, dishReady) = (try DistributedCenter.default, Notification.Name("DishReady"))
        let worker = RunLoopThread(name: "worker")
        try worker.start()

        // README: begin
        let all = try center.addObserver(forName: dishReady, suspensionBehavior: .hold, on: worker) { notification in
            let dish = notification.userInfo?["dish"]?.stringValue ?? "something"
            print("process \(notification.sender) has made \(dish)")
        }
        let events = center.addConnectionObserver { event in
            switch event {
            case .gap(let gap): print("\(gap.count) were lost: \(gap.cause)")
            case .interrupted(let reason): print("interrupted, an unknown number was lost: \(reason)")
            case .connected(let server): print("observed at server \(server)")
            case .failed(let error): print("\(error)")
            }
        }

        center.suspend()  // the server holds notifications for this process
        try center.post(name: dishReady, userInfo: ["dish": "bread"])
        try center.post(name: dishReady, userInfo: ["dish": "salad"])
        center.resume()  // and delivers them, in order

        let dishes = try center.notifications(named: dishReady, buffer: .bufferingNewest(100))
        let reading = Task {
            for await notification in dishes { print("read \(notification.name.rawValue)") }
        }
        try center.synchronize()  // the server has done all requests
        try center.post(name: dishReady, userInfo: ["dish": "fire"], deliverImmediately: true)
        // README: end

        let deadline = ContinuousClock.now + TestTimeout.hang
        while printed.withLock({ $0.count }) < 4, ContinuousClock.now < deadline {
            _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.005))
        }
        dishes.cancel()
        reading.cancel()
        let lines = printed.withLock { $0 }
        XCTAssertEqual(
            lines.filter { $0.hasPrefix("process") },
            ["bread", "salad", "fire"].map { "process \(getpid()) has made \($0)" })
        XCTAssertEqual(lines.filter { !$0.hasPrefix("process") && !$0.hasPrefix("observed") }, ["read DishReady"])
        for token in [all, events] { token.cancel() }
        worker.stop()
        try worker.waitUntilFinished(timeout: TestTimeout.hang)
    }

    func testTheReadmeShowsTheseExamples() throws {
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        let here = source.components(separatedBy: "        // README: begin\n").dropFirst().map { section in
            (section.components(separatedBy: "        // README: end\n").first ?? "").split(
                separator: "\n", omittingEmptySubsequences: false
            ).dropLast().map { $0.dropFirst(8) + "\n" }.joined()
        }
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let readme = try String(contentsOf: root.appending(component: "README.md"), encoding: .utf8)
        let section = try XCTUnwrap(
            readme.components(separatedBy: "\n## ").first { $0.hasPrefix("Between processes\n") })
        let shown = section.components(separatedBy: "```swift\n").dropFirst().map { block in
            // A function cannot contain imports.
            (block.components(separatedBy: "```\n").first ?? "").replacing(
                "import DistributedNotifications\nimport Foundation\nimport ThreadedNotifications\n\n", with: "")
        }
        XCTAssertEqual(shown.count, 2)
        for code in shown { XCTAssertTrue(here.contains(code), "no test compiles this:\n\(code)") }
    }
}
