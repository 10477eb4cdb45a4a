import Foundation
import ThreadedNotifications
import XCTest

/// The README's code, compiled as a user has it: with nothing but the public interface.
final class ReadmeExampleTests: XCTestCase {
    func testTheReadmesCodePrintsWhatItSays() throws {
        let printed = PrintedLines()
        @Sendable func print(_ line: String) { printed.add(line) }

        // README: begin
        let worker = RunLoopThread(name: "worker")
        let observer = RedirectingObserver { notification in
            print("\(notification.name.rawValue) is handled on \(ThreadIdentity.current)")
        }
        try worker.start()
        try worker.perform { observer.setUpThreadingSupport() }
        let name = Notification.Name("WindowWillClose")
        let token = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) {
            observer.processNotification($0)
        }
        NotificationCenter.default.post(name: name, object: nil)
        worker.stop()
        try worker.waitUntilFinished(limit: .seconds(5))
        NotificationCenter.default.removeObserver(token)
        // README: end

        XCTAssertEqual(printed.lines.count, 1)
        let line = try XCTUnwrap(printed.lines.first)
        XCTAssertTrue(line.hasPrefix("WindowWillClose is handled on {number = "), line)
        XCTAssertTrue(line.hasSuffix(", name = worker}"), line)
    }

    func testTheReadmeShowsThisFilesCode() throws {
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        let marked = source.components(separatedBy: "        // README: begin\n").dropFirst().first
        let code = try XCTUnwrap(marked?.components(separatedBy: "        // README: end\n").first)
            .split(separator: "\n").map { $0.dropFirst(8) + "\n" }.joined()
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let readme = try String(contentsOf: root.appending(component: "README.md"), encoding: .utf8)
        XCTAssertTrue(readme.contains("\n\(code)```\n"), "the README shows other code than this:\n\(code)")
    }
}

private final class PrintedLines: @unchecked Sendable {
    // Safety: behind the lock.
    private let lock = NSLock()
    private var stored: [String] = []

    var lines: [String] { lock.withLock { stored } }

    func add(_ line: String) { lock.withLock { stored.append(line) } }
}
