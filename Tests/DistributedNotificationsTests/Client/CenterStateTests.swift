import Foundation
import Glibc
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DistributedNotifications

/// Connections are sockets without a reader.
final class CenterStateTests: XCTestCase {
    /// A control frame, decoded.
    private enum Control: Equatable {
        case register(UInt32, String?, String?, SuspensionBehavior)
        case unregister(UInt32)
        case suspension(Bool)
        case synchronize(UInt64)
        case other(UInt8)
    }

    private static func sender() throws -> FrameSender {
        var ends: [Int32] = [0, 0]
        try require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        close(ends[1])
        return FrameSender(LocalSocket(owning: ends[0]))
    }

    private static func observed(
        _ name: String?, _ object: String? = nil, _ behavior: SuspensionBehavior = .coalesce
    ) -> CenterState.RegisteredObserver {
        let (_, handle) = ValueObservers().add(
            named: nil, options: ObserverOptions(), at: SourceLocation("", 0),
            using: .on(.postingThread) { (_: Int) in })
        return CenterState.RegisteredObserver(handle: handle, name: name, object: object, behavior: behavior)
    }

    private static func frames(_ state: inout CenterState, _ sender: FrameSender) throws -> [Control] {
        let bytes = state.takeControl(of: sender)
        let decoder = FrameDecoder(capacity: 1 << 20)
        if bytes.isEmpty { return [] }
        decoder.space().copyBytes(from: bytes)
        decoder.received(bytes.count)
        var told: [Control] = []
        while let frame = try decoder.next() {
            var reader = WireReader(frame.payload)
            switch FrameKind(rawValue: frame.kind) {
            case .register:
                let number = try reader.integer(UInt32.self)
                let behavior = try XCTUnwrap(SuspensionBehavior(wireValue: try reader.integer(UInt8.self)))
                let flags = try reader.integer(UInt8.self)
                let name = flags & 1 != 0 ? try reader.string(limit: 255) : nil
                let object = flags & 2 != 0 ? try reader.string(limit: 1024) : nil
                told.append(.register(number, name, object, behavior))
            case .unregister: told.append(.unregister(try reader.integer(UInt32.self)))
            case .suspension: told.append(.suspension(try reader.integer(UInt8.self) == 1))
            case .synchronize: told.append(.synchronize(try reader.integer(UInt64.self)))
            default: told.append(.other(frame.kind))
            }
            try reader.end()
        }
        let isWhole = decoder.isEmpty
        XCTAssertTrue(isWhole)
        return told
    }

    func testTheReaderIsStartedOnce() {
        var state = CenterState()
        let starts = [state.start(), state.start()]
        XCTAssertEqual(starts, [true, false])
    }

    func testANewConnectionIsSentAllRegistrationsAndRequestsInOrder() throws {
        var state = CenterState()
        _ = state.start()
        var numbers: [UInt32] = []
        for index in 0..<20 { numbers.append(try state.add(Self.observed("\(index)", nil, .hold), limit: 100)) }
        _ = state.remove(numbers[3])
        _ = state.setSuspended(true)
        let synchronization = try state.synchronize()
        for _ in 0..<2 {
            let sender = try Self.sender()
            let isNew = state.connected(sender, toldSuspended: false)
            XCTAssertTrue(isNew)
            let told = try Self.frames(&state, sender)
            let kept = numbers.enumerated().filter { $0.offset != 3 }
            XCTAssertEqual(
                told,
                [.suspension(true)] + kept.map { .register($0.element, "\($0.offset)", nil, .hold) }
                    + [.synchronize(synchronization)])
            let again = try Self.frames(&state, sender)
            XCTAssertEqual(again, [])
            state.lost(sender)
        }
    }

    func testASuspensionThatTheHelloToldIsNotSentAgain() throws {
        var state = CenterState()
        _ = state.start()
        _ = state.setSuspended(true)
        let sender = try Self.sender()
        _ = state.connected(sender, toldSuspended: true)
        let told = try Self.frames(&state, sender)
        XCTAssertEqual(told, [])
    }

    func testWhileConnectedEachChangeIsSentOnce() throws {
        var state = CenterState()
        _ = state.start()
        let sender = try Self.sender()
        _ = state.connected(sender, toldSuspended: false)
        let first = try state.add(Self.observed(nil, "object"), limit: 10)
        let second = try state.add(Self.observed("n", nil, .drop), limit: 10)
        let removed = [state.remove(first) != nil, state.remove(first) != nil]
        XCTAssertEqual(removed, [true, false])
        let changes = [state.setSuspended(true), state.setSuspended(true)]
        XCTAssertEqual(changes, [true, false])
        let told = try Self.frames(&state, sender)
        // The first observer was removed before its registration was sent.
        XCTAssertEqual(told, [.register(second, "n", nil, .drop), .suspension(true)])
        _ = state.remove(second)
        _ = state.setSuspended(false)
        let changed = try Self.frames(&state, sender)
        XCTAssertEqual(changed, [.unregister(second), .suspension(false)])
        let third = try state.add(Self.observed("n"), limit: 10)
        XCTAssertEqual(Set([first, second, third]).count, 3)
    }

    func testAnEarlierConnectionIsSentNothingAndItsEndDoesNotEndTheLater() throws {
        var state = CenterState()
        _ = state.start()
        let (first, second) = (try Self.sender(), try Self.sender())
        _ = state.connected(first, toldSuspended: false)
        state.lost(first)
        _ = state.connected(second, toldSuspended: false)
        state.lost(first)
        XCTAssertIdentical(state.sender, second)
        _ = try state.add(Self.observed("n"), limit: 10)
        let toFirst = try Self.frames(&state, first)
        let toSecond = try Self.frames(&state, second)
        XCTAssertEqual(toFirst, [])
        XCTAssertEqual(toSecond.count, 1)
    }

    func testWaitersAreSignalledAtAConnectionAtAFailureAndAtTheEnd() throws {
        var state = CenterState()
        _ = state.start()
        func waiter(_ state: inout CenterState) -> MonotonicSemaphore {
            let semaphore = MonotonicSemaphore()
            state.addWaiter(semaphore)
            return semaphore
        }
        func isWoken(_ semaphore: MonotonicSemaphore) -> Bool { semaphore.wait(until: .now) }
        let failure = waiter(&state)
        XCTAssertFalse(isWoken(failure))
        state.failed(.closed)
        XCTAssertTrue(isWoken(failure))
        guard case .connecting(.closed?) = state.phase else {
            XCTFail("\(state.phase)")
            return
        }
        let connection = waiter(&state)
        let sender = try Self.sender()
        _ = state.connected(sender, toldSuspended: false)
        XCTAssertTrue(isWoken(connection))
        // The failure of an earlier attempt changes nothing.
        state.failed(.closed)
        XCTAssertIdentical(state.sender, sender)
        state.lost(sender)
        let end = waiter(&state)
        let synchronization = try state.synchronize()
        let isAnswered = try state.isAnswered(synchronization)
        XCTAssertFalse(isAnswered)
        _ = state.close()
        XCTAssertTrue(isWoken(end))
        assertThrows(DistributedError.closed) { try state.isAnswered(synchronization) }
    }

    func testAClosedCenterAcceptsNothingAndReturnsItsConnection() throws {
        var state = CenterState()
        _ = state.start()
        let sender = try Self.sender()
        _ = state.connected(sender, toldSuspended: false)
        let number = try state.add(Self.observed("n"), limit: 10)
        let closed = state.close()
        XCTAssertIdentical(closed.sender, sender)
        XCTAssertTrue(state.observers.isEmpty)
        assertThrows(DistributedError.closed) { try state.add(Self.observed("n"), limit: 10) }
        assertThrows(DistributedError.closed) { try state.synchronize() }
        let connects = state.connected(try Self.sender(), toldSuspended: false)
        XCTAssertFalse(connects)
        let removed = state.remove(number)
        XCTAssertNil(removed)
        state.lost(sender)
        XCTAssertTrue(state.isClosed)
        let again = state.close()
        XCTAssertNil(again.sender)
    }

    func testWaitersAreSignalledAtAnAnswerAndAtOnceWithoutAReader() throws {
        var state = CenterState()
        let atOnce = MonotonicSemaphore()
        state.addWaiter(atOnce)
        XCTAssertTrue(atOnce.wait(until: .now))
        _ = state.start()
        let number = try state.synchronize()
        let (answer, removed) = (MonotonicSemaphore(), MonotonicSemaphore())
        for semaphore in [answer, removed] { state.addWaiter(semaphore) }
        state.removeWaiter(removed)
        state.endSynchronization(number)
        let isAnswered = try state.isAnswered(number)
        XCTAssertTrue(isAnswered)
        XCTAssertTrue(answer.wait(until: .now))
        XCTAssertFalse(removed.wait(until: .now))
    }

    func testASynchronizationThrowsTheErrorOfTheLastAttempt() throws {
        var state = CenterState()
        _ = state.start()
        let number = try state.synchronize()
        let error = DistributedError.tooManyObservers(limit: 1)
        state.failed(error)
        assertThrows(error) { try state.isAnswered(number) }
    }

    func testObserversBeyondTheServersLimitAreRefused() throws {
        var state = CenterState()
        let first = try state.add(Self.observed("n"), limit: 2)
        _ = try state.add(Self.observed("n"), limit: 2)
        assertThrows(DistributedError.tooManyObservers(limit: 2)) { try state.add(Self.observed("n"), limit: 2) }
        _ = state.remove(first)
        _ = try state.add(Self.observed("n"), limit: 2)
    }
}
