import NotificationCompatibility
import SharedTesting
import XCTest

/// The documents' code as it is written for macOS. It imports this module in place of Foundation.
final class SamplesTests: XCTestCase {
    func testTheDocumentsClassHandlesEachNotificationOnItsThreadInOrder() throws {
        nonisolated(unsafe) let thread = NetworkThread()
        let log = Log()
        thread.start()
        let observer = MyThreadedClass { notification in
            log.write("\(notification.object as? Int ?? -1) \(Thread.current == thread)")
        }
        XCTAssertTrue(thread.perform(on: thread, waitUntilDone: true) { observer.register() })
        for number in 0..<1000 {
            NotificationCenter.default.post(name: Notification.Name("NotificationName"), object: number)
        }
        XCTAssertTrue(thread.perform(on: thread, waitUntilDone: true) { observer.unregister() })
        XCTAssertEqual(log.lines, (0..<1000).map { "\($0) true" })
        thread.stop()
    }

    func testTheArticlesConnectionIsUsedOnTheNetworkThreadOnly() {
        let thread = NetworkThread()
        let connection = NetworkConnection(networkThread: thread)
        thread.start()
        connection.sendArguments(firstName: "Ada", lastName: "Lovelace", companyName: "Analytical Engines")
        connection.send(firstName: "Grace", lastName: "Hopper", companyName: "Compilers")
        thread.performBlock({}, waitUntilDone: true)
        XCTAssertEqual(connection.sent.map { $0["firstName"] }, ["Ada", "Grace"])
        XCTAssertFalse(connection.usedOtherThread)
        thread.stop()
    }

    func testTheArticlesCategoryPerformsBlocksOnTheirThreads() {
        let log = Log()
        let ended = expectation(description: "performed after a delay")
        Thread.performBlockOnMainThread { log.write("on main: \(Thread.isMainThread)") }
        Thread.main.performBlock({ ended.fulfill() }, afterDelay: 0.001)
        let background = expectation(description: "performed in the background")
        Thread.performBlockInBackground {
            Thread.main.performBlock({ log.write("waited for main: \(Thread.isMainThread)") }, waitUntilDone: true)
            log.write("in the background: \(!Thread.isMainThread)")
            background.fulfill()
        }
        wait(for: [ended, background], timeout: TestTimeout.seconds)
        XCTAssertEqual(log.lines, ["on main: true", "waited for main: true", "in the background: true"])
    }

    func testEachSampleImportsThisModuleOnly() throws {
        let directory = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Samples")
        let files = try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
        XCTAssertEqual(files.count, 2)
        for file in files {
            let text = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            XCTAssertEqual(text.filter { $0.contains("import ") }, ["import NotificationCompatibility"], "\(file)")
        }
    }
}

/// Lines that blocks write on several threads.
final class Log: Sendable {
    private let text = Awaited([String]())

    var lines: [String] { text.withLock(\.self) }

    func write(_ line: String) { text.withLock { $0.append(line) } }
}
