import DistributedNotifications
import Foundation
import NotificationCompatibility
import NotificationServer
import SharedTesting
import ThreadedNotifications
import XCTest

/// The examples of notifications between processes, run with a server of their own.
final class DistributedExamples: ExampleTestCase {
    private static let directory = "/tmp/documents-\(getpid())"

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
        if let server = center?.serverProcess { kill(server, SIGTERM) }
        center?.close()
        try? FileManager.default.removeItem(atPath: directory)
    }

    func testTheProgramPrintsTheDish() throws {
        try MainActor.assumeIsolated {
            // example: begin
            let center = try DistributedCenter.default
            let dishReady = Notification.Name("DishReady")

            let waiter = try center.addObserver(forName: dishReady, object: "Kitchen") { notification in
                let dish = notification.userInfo?["dish"]?.stringValue ?? "something"
                print("\(dish) is served on \(ThreadIdentity.current)")
            }

            try center.post(name: dishReady, object: "Kitchen", userInfo: ["dish": "soup", "portions": 3])
            MainRunLoop.run { waiter.counters.delivered > 0 }
            // example: end

            waiter.cancel()
        }
        XCTAssertEqual(printed.lines, ["soup is served on {number = 1, name = main}"])
    }

    func testACodableTypeIsAUserInfo() throws {
        try MainActor.assumeIsolated {
            let (center, dishReady) = (try DistributedCenter.default, Notification.Name("DishReady"))

            // example: begin
            struct Dish: Codable {
                var dish: String
                var portions: Int?
            }

            let counter = try center.addObserver(forName: dishReady, as: Dish.self) { dish in
                print("\(dish.portions ?? 1) of \(dish.dish)")
            }
            try center.post(name: dishReady, codable: Dish(dish: "soup", portions: 3))
            // example: end

            MainRunLoop.run { counter.counters.delivered > 0 }
            counter.cancel()
        }
        XCTAssertEqual(printed.lines, ["3 of soup"])
    }

    func testSuspendedObserversReceiveTheirNotifications() throws {
        let (center, dishReady) = (try DistributedCenter.default, Notification.Name("DishReady"))
        let worker = try started("worker")

        // example: begin
        let all = try center.addObserver(forName: dishReady, suspensionBehavior: .hold, on: worker) { notification in
            let dish = notification.userInfo?["dish"]?.stringValue ?? "something"
            print("process \(notification.sender) has made \(dish)")
        }
        let events = center.addConnectionObserver { event in
            switch event {
            case .gap(let gap): print("\(gap.count) were lost: \(gap.cause)")
            case .interrupted(let reason): print("interrupted, some may be lost: \(reason)")
            case .connected(let server): print("observed at server \(server)")
            case .failed(let error): print("\(error)")
            }
        }

        center.suspend()  // the server holds notifications for this process
        try center.post(name: dishReady, userInfo: ["dish": "bread"])
        try center.post(name: dishReady, userInfo: ["dish": "salad"])
        center.resume()  // and delivers them, in order

        let dishes = try center.notifications(named: dishReady, bufferSize: 100)
        let reading = Task {
            for await notification in dishes { print("read \(notification.name.rawValue)") }
        }
        try center.synchronize()  // the server has done all requests
        try center.post(name: dishReady, userInfo: ["dish": "fire"], deliverImmediately: true)
        // example: end

        let deadline = SuspendingClock.now + TestTimeout.hang
        // The connection observer may print a line too.
        while printed.lines.filter({ !$0.hasPrefix("observed") }).count < 4, SuspendingClock.now < deadline {
            _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.005))
        }
        dishes.cancel()
        reading.cancel()
        let lines = printed.lines
        XCTAssertEqual(
            lines.filter { $0.hasPrefix("process") },
            ["bread", "salad", "fire"].map { "process \(getpid()) has made \($0)" })
        XCTAssertEqual(lines.filter { !$0.hasPrefix("process") && !$0.hasPrefix("observed") }, ["read DishReady"])
        for token in [all, events] { token.cancel() }
        try end(worker)
    }

    func testTheShortProgramPrintsTheDish() throws {
        try MainActor.assumeIsolated {
            // example: begin
            let center = try DistributedCenter.default
            let dishReady = Notification.Name("DishReady")

            let observer = try center.addObserver(forName: dishReady, object: "Kitchen") { notification in
                print(notification.userInfo?["dish"]?.stringValue ?? "something")  // on the main thread
            }
            try center.post(name: dishReady, object: "Kitchen", userInfo: ["dish": "soup", "portions": 3])
            MainRunLoop.run { observer.counters.delivered > 0 }
            // example: end

            observer.cancel()
        }
        XCTAssertEqual(printed.lines, ["soup"])
    }

    func testAppleNamesPrintThePath() {
        MainActor.assumeIsolated {
            // example: begin
            let center = DistributedNotificationCenter.default()
            let saved = Notification.Name("DocumentSaved")

            center.addObserver(forName: saved, object: nil, queue: .main) { notification in
                print("\(notification.object as? String ?? "somebody") saved \(notification.userInfo?["path"] ?? "")")
                MainRunLoop.stop()
            }
            center.postNotificationName(
                saved, object: "Editor", userInfo: ["path": "/tmp/a"], options: [.deliverImmediately])
            MainRunLoop.run()
            // example: end
        }
        XCTAssertEqual(printed.lines, ["Editor saved /tmp/a"])
    }

    /// Compiled only: this program could then be started as the server.
    private func theServers() throws {
        // example: begin
        NotificationServer.runIfAsked()
        // … the program
        // example: end

        // example: begin
        let server = LocalServer { line in print(line) }
        try server.run()  // until another thread or a signal handler calls server.stop()
        // example: end
    }
}

// example: begin
typealias NotificationQueue = NotificationCompatibility.NotificationQueue
// example: end
