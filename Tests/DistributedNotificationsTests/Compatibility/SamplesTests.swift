import NotificationCompatibility
import SharedTesting
import XCTest

/// The documents' code and programs as they are written for macOS. They import this module in place of Foundation.
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

    func testListing1IsHandledOnThePostingThread() {
        let (controller, posted) = (PostingThreadViewController(), DispatchSemaphore(value: 0))
        let token = controller.viewDidLoad(posted: posted)
        XCTAssertEqual(posted.wait(timeout: .now() + TestTimeout.seconds), .success)
        NotificationCenter.default.removeObserver(token)
        XCTAssertEqual(
            controller.log.lines,
            ["registered on the main thread: true", "handled on the main thread: false", "test notification"])
    }

    func testListing2IsHandledOnTheMainThread() {
        let controller = RedirectingViewController()
        controller.viewDidLoad()
        let limit = Date(timeIntervalSinceNow: TestTimeout.seconds)
        while controller.log.lines.count < 2, RunLoop.current.run(mode: .default, before: limit), Date() < limit {}
        controller.viewWillDisappear()
        XCTAssertEqual(
            controller.log.lines, ["registered on the main thread: true", "processed on the main thread: true"])
    }

    func testTheObserverOfListing4LivesUntilItsHandlerReturns() {
        let (handling, mayContinue, log) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), Log())
        weak var released: Observer?
        do {
            let observer = Observer(handling: handling, mayContinue: mayContinue, log: log)
            released = observer
            XCTAssertEqual(handling.wait(timeout: .now() + TestTimeout.seconds), .success)
        }
        XCTAssertNotNil(released, "the handler uses it")
        let ended = expectation(
            for: NSPredicate { _, _ in log.lines.count == 2 }, evaluatedWith: nil)
        mayContinue.signal()
        wait(for: [ended], timeout: TestTimeout.seconds)
        XCTAssertEqual(log.lines, ["handle notification begin", "handle notification end"])
    }

    func testEachSampleImportsThisModuleOnly() throws {
        let directory = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Samples")
        let files = try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
        var lines = 0
        for file in files {
            let text = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            XCTAssertEqual(text.filter { $0.contains("import ") }, ["import NotificationCompatibility"], "\(file)")
            lines += text.count
        }
        XCTAssertGreaterThan(lines, 200)
    }
}
