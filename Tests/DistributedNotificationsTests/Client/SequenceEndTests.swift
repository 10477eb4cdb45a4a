import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DistributedNotifications

/// Closing or releasing a center ends its sequences.
final class SequenceEndTests: XCTestCase {
    /// Collects the values of a sequence until its end, in a task that retains the sequence only.
    private final class Taken<Value: Sendable>: Sendable {
        private let seen = Awaited<(values: [Value], hasEnded: Bool)>(([], false))

        init(_ sequence: NotificationSequence<Value>) {
            Task { [seen] in
                for await value in sequence { seen.withLock { $0.values.append(value) } }
                seen.withLock { $0.hasEnded = true }
            }
        }

        func hasFirst() -> Bool { seen.wait { !$0.values.isEmpty } }

        /// All values; nil if the sequence does not end.
        func all() -> [Value]? { seen.wait { $0.hasEnded } ? seen.withLock { $0.values } : nil }
    }

    func testAwaitedSequencesEndWhenTheCenterIsClosedOrReleased() throws {
        for isClosed in [true, false] {
            let temporary = try FaultDirectory()
            let server = try ServerInThisProcess(temporary)
            var center: DistributedCenter? = try DistributedCenter(directory: temporary.directory, limits: .patient)
            let events = Taken(try XCTUnwrap(center?.connectionEvents()))
            let notifications = Taken(try XCTUnwrap(try center?.notifications(named: .numbered, bufferSize: 10)))
            try center?.post(name: .numbered, object: "1")
            XCTAssertTrue(events.hasFirst() && notifications.hasFirst())
            if isClosed { center?.close() }
            weak let released = center
            center = nil
            XCTAssertNil(released, "a sequence retains its center")
            XCTAssertEqual(notifications.all()?.map(\.object), ["1"])
            XCTAssertEqual(events.all()?.count, 1)
            withExtendedLifetime(server) {}
        }
    }

    func testBufferedValuesAreReceivedAfterTheCenterIsClosedAndThenTheEnd() throws {
        let temporary = try FaultDirectory()
        let server = try ServerInThisProcess(temporary)
        let center = try DistributedCenter(directory: temporary.directory, limits: .patient)
        let sequence = try center.notifications(named: .numbered, bufferSize: 10)
        for number in 1...3 { try center.post(name: .numbered, object: "\(number)") }
        try center.synchronize(timeout: TestTimeout.hang)
        center.close()
        XCTAssertEqual(Taken(sequence).all()?.map(\.object), ["1", "2", "3"])
        withExtendedLifetime(server) {}
    }

    func testSequencesEndWithoutAConnectionAndAtOnceIfTheCenterIsClosed() throws {
        let center = try DistributedCenter(directory: ServerDirectory(path: "/nonexistent/temporary"))
        let events = Taken(center.connectionEvents())
        let notifications = Taken(try center.notifications(named: nil, bufferSize: 10))
        center.close()
        XCTAssertEqual(notifications.all(), [])
        for event in try XCTUnwrap(events.all()) {
            guard case .failed = event else { return XCTFail("\(event)") }
        }
        XCTAssertEqual(Taken(center.connectionEvents()).all(), [])
        assertThrows(DistributedError.closed) { try center.notifications(named: nil, bufferSize: 10) }
    }
}
