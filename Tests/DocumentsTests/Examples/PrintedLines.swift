import SharedTesting
import ThreadedNotifications
import XCTest

/// The lines that the examples of a test have printed, on any thread.
let printed = PrintedLines()

/// Stands for Swift's function in the examples.
func print(_ line: some CustomStringConvertible) { printed.add("\(line)") }

final class PrintedLines: Sendable {
    private let stored = Locked<[String]>([])

    var lines: [String] { stored.withLock { $0 } }

    func add(_ line: String) { stored.withLock { $0.append(line) } }

    func clear() { stored.withLock { $0 = [] } }
}

class ExampleTestCase: XCTestCase {
    override func setUp() { printed.clear() }

    func end(_ thread: RunLoopThread) throws { try thread.stopAndWait() }

    func started(_ name: String) throws -> RunLoopThread { try RunLoopThread.started(name) }
}
