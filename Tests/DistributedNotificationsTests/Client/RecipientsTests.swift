import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DistributedNotifications

final class RecipientsTests: XCTestCase {
    private let state = Locked(CenterState())
    private let observers = ValueObservers()

    /// - Returns: the observer's number at the server, and its id.
    private func add() throws -> (number: UInt32, id: UInt64) {
        let (token, handle) = observers.add(
            named: nil, options: ObserverOptions(), at: SourceLocation("", 0),
            using: .on(.postingThread) { (_: Int) in })
        let id = token.id
        let observer = CenterState.RegisteredObserver(handle: handle, name: nil, object: nil, behavior: .coalesce)
        let number = try state.withLock { state throws(DistributedError) in try state.add(observer, limit: 9) }
        return (number, id)
    }

    private static func update(
        _ recipients: inout Recipients, _ name: String, _ numbers: [UInt32], _ state: Locked<CenterState>
    ) throws -> (name: String, ids: [UInt64]) {
        var writer = FrameWriter()
        writer.integer(UInt32(1))
        writer.integer(UInt16(numbers.count))
        for number in numbers { writer.integer(number) }
        writer.integer(UInt8(0))
        writer.string(name)
        try writer.bytes.withUnsafeBytes { bytes in
            var reader = WireReader(bytes)
            recipients.update(for: try InboundPost(&reader), state)
        }
        return (recipients.name.rawValue, recipients.observers.map(\.id))
    }

    func testEachNotificationHasItsOwnNameAndObservers() throws {
        let (first, second) = (try add(), try add())
        var recipients = Recipients()
        for (name, observers) in [
            ("a", [first]), ("a", [first]), ("b", [first]), ("b", [second]), ("bé", [first, second]), ("b", []),
            ("a", [second, first]),
        ] {
            let found = try Self.update(&recipients, name, observers.map(\.number), state)
            XCTAssertEqual(found.name, name)
            XCTAssertEqual(found.ids, observers.map(\.id))
        }
    }

    func testAnObserverThatWasRemovedIsNoRecipientOfTheNextNotification() throws {
        let (first, second) = (try add(), try add())
        var recipients = Recipients()
        let before = try Self.update(&recipients, "a", [first.number, second.number], state)
        XCTAssertEqual(before.ids, [first.id, second.id])
        _ = state.withLock { $0.remove(first.number) }
        let after = try Self.update(&recipients, "a", [first.number, second.number], state)
        XCTAssertEqual(after.ids, [second.id])
        _ = state.withLock { $0.close() }
        let closed = try Self.update(&recipients, "a", [first.number, second.number], state)
        XCTAssertEqual(closed.ids, [])
    }
}
