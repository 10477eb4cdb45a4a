import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

final class ThreadIdentityTests: XCTestCase {
    func testTheMainThreadHasNumberOneTheNameMainAndTheProcessID() {
        XCTAssertEqual(
            ThreadIdentity.current,
            ThreadIdentity(
                number: 1, name: "main", kernelID: ProcessInfo.processInfo.processIdentifier))
        ThreadIdentity.nameCurrentThread("something else")
        XCTAssertEqual(ThreadIdentity.current.name, "main")
    }

    func testTheDescriptionHasTheFormOfTheDocuments() {
        XCTAssertEqual(
            "\(ThreadIdentity(number: 1, name: "main", kernelID: 865))", "{number = 1, name = main}")
        XCTAssertEqual(
            "\(ThreadIdentity(number: 2, name: nil, kernelID: 45174))", "{number = 2, name = (null)}")
    }

    func testNumbersAreNeverReused() throws {
        let identities = try (0..<20).map { _ in try identityOfANewThread() }
        let numbers = identities.map(\.number)
        XCTAssertEqual(numbers, Set(numbers).sorted())
        XCTAssertGreaterThan(numbers[0], 1)
        XCTAssertEqual(identities.compactMap(\.name), [])
    }

    func testTheKernelsNameIsTruncatedBetweenCharacters() throws {
        let name = "a long name: göttlich"
        let kernelName = Locked("")
        let identity = try identityOfANewThread {
            ThreadIdentity.nameCurrentThread(name)
            let path = "/proc/self/task/\(ThreadIdentity.current.kernelID)/comm"
            let comm = (try? String(contentsOfFile: path, encoding: .utf8)) ?? "unreadable"
            kernelName.withLock { $0 = comm }
        }
        XCTAssertEqual(identity.name, name)
        XCTAssertEqual(kernelName.withLock { $0 }, "a long name: g\n")
    }

    private func identityOfANewThread(doing work: @escaping @Sendable () -> Void = {}) throws -> ThreadIdentity {
        let identity = Locked<ThreadIdentity?>(nil)
        let done = expectation(description: "thread")
        Thread {
            work()
            let current = ThreadIdentity.current
            identity.withLock { $0 = current }
            done.fulfill()
        }.start()
        wait(for: [done], timeout: TestTimeout.seconds)
        return try XCTUnwrap(identity.withLock { $0 })
    }
}
