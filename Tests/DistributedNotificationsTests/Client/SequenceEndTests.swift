import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DistributedNotifications

/// Closing or releasing a center ends its sequences.
final class SequenceEndTests: XCTestCase {
    /// The values that a task received from a sequence until its end.
    private final class Taken<Value: Sendable>: Sendable {
        private let values = Locked([Value]())
        private let first: XCTestExpectation
        private let end: XCTestExpectation

        init(_ sequence: NotificationSequence<Value>, in test: XCTestCase) {
            first = test.expectation(description: "the first value")
            end = test.expectation(description: "the end")
            // The task retains the sequence only.
            Task { [values, first, end] in
                for await value in sequence {
                    if values.withLock({ values in
                        values.append(value)
                        return values.count == 1
                    }) {
                        first.fulfill()
                    }
                }
                end.fulfill()
            }
        }

        func waitForFirst(in test: XCTestCase) { test.wait(for: [first], timeout: TestTimeout.seconds) }

        /// - Returns: all values.
        func waitForEnd(in test: XCTestCase) -> [Value] {
            test.wait(for: [end], timeout: TestTimeout.seconds)
            return values.withLock { $0 }
        }
    }

    private func serve() throws -> (FaultDirectory, ServerInThisProcess) {
        let temporary = try FaultDirectory()
        return (temporary, try ServerInThisProcess(temporary))
    }

    func testAwaitedSequencesEndWhenTheCenterIsClosed() throws {
        let (temporary, server) = try serve()
        let center = try DistributedCenter(directory: temporary.directory, limits: .patient)
        let events = Taken(center.connectionEvents(), in: self)
        let notifications = Taken(
            try center.notifications(named: .numbered, bufferSize: 10), in: self)
        try center.post(name: .numbered, object: "1")
        events.waitForFirst(in: self)
        notifications.waitForFirst(in: self)
        center.close()
        XCTAssertEqual(notifications.waitForEnd(in: self).map(\.object), ["1"])
        let shown = events.waitForEnd(in: self)
        XCTAssertEqual(shown.count, 1)
        guard case .connected? = shown.first else { return XCTFail("\(shown)") }
        withExtendedLifetime((temporary, server)) {}
    }

    func testBufferedValuesAreReceivedAfterTheCenterIsClosedAndThenTheEnd() throws {
        let (temporary, server) = try serve()
        let center = try DistributedCenter(directory: temporary.directory, limits: .patient)
        let sequence = try center.notifications(named: .numbered, bufferSize: 10)
        for number in 1...3 { try center.post(name: .numbered, object: "\(number)") }
        try center.synchronize(timeout: TestTimeout.hang)
        center.close()
        let taken = Taken(sequence, in: self)
        taken.waitForFirst(in: self)
        XCTAssertEqual(taken.waitForEnd(in: self).map(\.object), ["1", "2", "3"])
        withExtendedLifetime((temporary, server)) {}
    }

    func testAwaitedSequencesEndWhenTheCenterIsReleased() throws {
        let (temporary, server) = try serve()
        var center: DistributedCenter? = try DistributedCenter(directory: temporary.directory, limits: .patient)
        let events = Taken(try XCTUnwrap(center?.connectionEvents()), in: self)
        let notifications = Taken(
            try XCTUnwrap(try center?.notifications(named: .numbered, bufferSize: 10)), in: self)
        try center?.post(name: .numbered, object: "1")
        events.waitForFirst(in: self)
        notifications.waitForFirst(in: self)
        weak let dropped = center
        center = nil
        XCTAssertNil(dropped, "a sequence retains its center")
        XCTAssertEqual(notifications.waitForEnd(in: self).map(\.object), ["1"])
        XCTAssertEqual(events.waitForEnd(in: self).count, 1)
        withExtendedLifetime((temporary, server)) {}
    }

    func testSequencesEndWithoutAConnectionAndAtOnceIfTheCenterIsClosed() throws {
        let center = try DistributedCenter(directory: ServerDirectory(path: "/nonexistent/temporary"))
        let events = center.connectionEvents()
        let notifications = try center.notifications(named: nil, bufferSize: 10)
        center.close()
        let ended = expectation(description: "the ends")
        Task {
            for await event in events {
                if case .failed = event { continue }
                XCTFail("\(event)")
            }
            for await _ in notifications { XCTFail("no notification was posted") }
            for await event in center.connectionEvents() { XCTFail("\(event)") }
            ended.fulfill()
        }
        wait(for: [ended], timeout: TestTimeout.seconds)
        XCTAssertThrowsError(try center.notifications(named: nil, bufferSize: 10)) {
            XCTAssertEqual($0 as? DistributedError, .closed)
        }
    }
}
