import ChildProcesses
import Foundation
import SharedTesting
import XCTest

/// The time after which something is said not to happen, in seconds. On a slow machine it may still happen later; then
/// a change of the platform is not noticed, but no claim fails because of it.
let patience = 0.3

extension DispatchSemaphore {
    /// False if the semaphore is not signalled in time.
    func isSignalled(within seconds: TimeInterval = TestTimeout.seconds) -> Bool {
        wait(timeout: .now() + seconds) == .success
    }
}

extension Notification.Name {
    static let test = Notification.Name("TestNotification")
}

extension XCTestCase {
    /// Claims that the article *Moving from Foundation* says this and that the platform still is so.
    ///
    /// - Parameter sentence: a cell of the table in the section *Foundation on Linux*.
    func assertStill(_ sentence: String, _ isSo: Bool, file: StaticString = #filePath, line: UInt = #line) {
        let article = "Sources/ThreadedNotifications/ThreadedNotifications.docc/MovingFromFoundation.md"
        let text = try? String(contentsOf: Repository.root.appending(path: article), encoding: .utf8)
        XCTAssertEqual(
            text?.contains("| \(sentence) |"), true, "\(article) does not say: \(sentence)", file: file, line: line)
        XCTAssertTrue(isSo, "Foundation has changed, and so must \(article): \(sentence)", file: file, line: line)
    }

    /// Claims that `body` ends the program by a signal.
    ///
    /// - Parameter example: names one of several examples of the sentence.
    func assertStillEnds(
        _ sentence: String, _ example: String = "", file: StaticString = #filePath, line: UInt = #line,
        _ body: () throws -> Void
    ) throws {
        let end = try end(of: sentence + example) {
            try body()
            return true
        }
        let isSo = if case .signal = end { true } else { false }
        assertStill(sentence, isSo, file: file, line: line)
    }

    /// Claims that `body` returns true in a process of its own. Blocked threads may stay behind there.
    func assertStillAlone(
        _ sentence: String, file: StaticString = #filePath, line: UInt = #line, _ body: () throws -> Bool
    ) throws {
        assertStill(sentence, try end(of: sentence, body) == .exit(0), file: file, line: line)
    }

    /// Runs `body` in a process of its own: the same test runs there, and comes here again.
    private func end(of example: String, _ body: () throws -> Bool) throws -> ChildProcess.End {
        let variable = "EXAMINED"
        if let examined = ProcessInfo.processInfo.environment[variable] {
            guard examined == example else { return .exit(0) }
            var noCore = rlimit(rlim_cur: 0, rlim_max: 0)
            setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &noCore)
            _exit(try body() ? 0 : 1)
        }
        // A test's name has a dot between its class and its method.
        let module = String(reflecting: Self.self).split(separator: ".")[0]
        var child = ChildProgram.own(["\(module).\(name.replacing(".", with: "/"))"])
        child.environment[variable] = example
        return try child.run(timeout: TestTimeout.hang).end
    }
}
