import Foundation
import SharedTesting
import XCTest

final class TimeoutSourceTests: XCTestCase {
    /// Calls with a timeout on the wall clock, which is wrong when the clock is set; and the clock that counts the time
    /// while the machine is suspended, which the waits of threads do not.
    private static let forbidden = [
        "wait(timeout: .now()", "wait(wallTimeout:", "DispatchWallTime", "lock(before:", "wait(until: Date(",
        "NSCondition", "sem_timedwait", "pthread_mutex_timedlock", "pthread_cond_timedwait", ".timeIntervalSinceNow",
        "ContinuousClock", "CLOCK_BOOTTIME",
    ]

    func testNoSourceFileMeasuresATimeoutOnAnotherClockThanTheMonotonicOne() throws {
        let sources = Repository.root.appending(path: "Sources")
        let files = try XCTUnwrap(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
            .compactMap { $0 as? URL }.filter { ["swift", "c", "h"].contains($0.pathExtension) }
        XCTAssertGreaterThan(files.count, 100)
        for file in files {
            let text = try String(contentsOf: file, encoding: .utf8)
            for call in Self.forbidden where text.contains(call) {
                let isCalled = text.split(separator: "\n").contains { line in
                    line.contains(call) && !line.drop(while: { $0 == " " }).hasPrefix("//")
                }
                XCTAssertFalse(
                    isCalled, "\(file.lastPathComponent) has \(call) Use MonotonicSemaphore or SuspendingClock.")
            }
        }
    }
}
