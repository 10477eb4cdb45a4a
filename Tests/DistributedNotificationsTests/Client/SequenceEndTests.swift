import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DistributedNotifications

/// Closing or releasing a center ends its sequences.
final class SequenceEndTests: XCTestCase {
    /// Collects the objects of a sequence until its end, in a task that retains the sequence only.
    private static func taken(
        _ sequence: NotificationSequence<DistributedNotification>
    ) -> Awaited<(objects: [String?], hasEnded: Bool)> {
        let seen = Awaited<(objects: [String?], hasEnded: Bool)>(([], false))
        Task {
            for await notification in sequence { seen.withLock { $0.objects.append(notification.object) } }
            seen.withLock { $0.hasEnded = true }
        }
        return seen
    }

    func testASequenceEndsWhenTheCenterIsClosedOrReleased() throws {
        for isClosed in [true, false] {
            let temporary = try TemporaryDirectory()
            let server = try ServerInThisProcess(temporary)
            var center: DistributedCenter? = try DistributedCenter(directory: temporary.directory)
            let seen = Self.taken(try XCTUnwrap(try center?.notifications(named: .numbered, bufferSize: 10)))
            try center?.post(name: .numbered, object: "1")
            XCTAssertTrue(seen.wait { !$0.objects.isEmpty })
            if isClosed { center?.close() }
            weak let released = center
            center = nil
            XCTAssertNil(released, "a sequence retains its center")
            XCTAssertTrue(seen.wait { $0.hasEnded && $0.objects == ["1"] })
            withExtendedLifetime(server) {}
        }
    }

    func testBufferedValuesAreReceivedAfterTheCenterIsClosedAndThenTheEnd() throws {
        let temporary = try TemporaryDirectory()
        let server = try ServerInThisProcess(temporary)
        let center = try DistributedCenter(directory: temporary.directory, postTimeout: TestTimeout.hang)
        let sequence = try center.notifications(named: .numbered, bufferSize: 10)
        for number in 1...3 { try center.post(name: .numbered, object: "\(number)") }
        try center.synchronize(timeout: TestTimeout.hang)
        center.close()
        XCTAssertTrue(Self.taken(sequence).wait { $0.hasEnded && $0.objects == ["1", "2", "3"] })
        assertThrows(DistributedError.closed) { try center.notifications(named: nil, bufferSize: 10) }
        withExtendedLifetime(server) {}
    }
}
