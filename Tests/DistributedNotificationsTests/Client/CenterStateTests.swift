import Foundation
import Glibc
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DistributedNotifications

/// The state of a center as a value. Connections are sockets without a reader.
final class CenterStateTests: XCTestCase {
    private static func sender() throws -> FrameSender {
        var ends: [Int32] = [0, 0]
        try require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        close(ends[1])
        return FrameSender(LocalSocket(owning: ends[0]))
    }

    private static func observed(_ name: String?) -> CenterState.RegisteredObserver {
        let (_, handle) = ValueObservers().add(
            named: nil, options: ObserverOptions(), at: SourceLocation("", 0),
            using: .on(.postingThread) { (_: Int) in })
        return CenterState.RegisteredObserver(handle: handle, name: name, object: "o", behavior: .hold)
    }

    /// A state that was started and is connected.
    private static func connected() throws -> (CenterState, FrameSender) {
        let sender = try Self.sender()
        var state = CenterState()
        _ = state.start()
        _ = state.connected(sender, toldSuspended: false)
        return (state, sender)
    }

    private static func frames(_ write: (inout FrameWriter) -> Void) -> [UInt8] {
        var writer = FrameWriter()
        write(&writer)
        return writer.bytes
    }

    private static func register(_ number: UInt32, _ name: String) -> [UInt8] {
        frames { $0.register(number, name: name, object: "o", behavior: .hold) }
    }

    func testEachConnectionIsToldAllRegistrationsAndRequestsOnce() throws {
        var state = CenterState()
        XCTAssertEqual([state.start(), state.start()], [true, false])
        let observers = ["a", nil, "c"].map { Self.observed($0) }
        for observer in observers { try state.add(observer) }
        XCTAssertNotNil(state.remove(observers[1].handle.id))
        state.setSuspended(true)
        let synchronization = try state.synchronize()
        for _ in 0..<2 {
            let sender = try Self.sender()
            XCTAssertTrue(state.connected(sender, toldSuspended: false))
            XCTAssertEqual(
                state.takeControl(of: sender),
                Self.register(1, "a") + Self.register(3, "c")
                    + Self.frames { writer in
                        writer.frame(.suspension) { $0.integer(UInt8(1)) }
                        writer.frame(.synchronize) { $0.integer(synchronization) }
                    })
            XCTAssertEqual(state.takeControl(of: sender), [])
            state.lost(sender)
        }
        state.serverAnswered(synchronization)
        let sender = try Self.sender()
        XCTAssertTrue(state.connected(sender, toldSuspended: true))
        XCTAssertEqual(state.takeControl(of: sender), Self.register(1, "a") + Self.register(3, "c"))
    }

    func testAChangeThatALaterOneCancelsIsNotToldHoweverOftenItHappens() throws {
        var (state, sender) = try Self.connected()
        let kept = Self.observed("n")
        try state.add(kept)
        XCTAssertEqual(state.takeControl(of: sender), Self.register(1, "n"))
        for _ in 0..<1000 {
            let other = Self.observed("m")
            try state.add(other)
            XCTAssertNotNil(state.remove(other.handle.id))
            for flag in [true, false] { state.setSuspended(flag) }
        }
        XCTAssertEqual(state.takeControl(of: sender), [])
        _ = state.remove(kept.handle.id)
        XCTAssertNil(state.remove(kept.handle.id))
        XCTAssertEqual(state.takeControl(of: sender), Self.frames { $0.frame(.unregister) { $0.integer(UInt32(1)) } })
    }

    func testAnEarlierConnectionIsToldNothingAndItsEndDoesNotEndTheLater() throws {
        var (state, first) = try Self.connected()
        state.lost(first)
        let second = try Self.sender()
        _ = state.connected(second, toldSuspended: false)
        state.lost(first)
        XCTAssertIdentical(state.sender, second)
        try state.add(Self.observed("n"))
        XCTAssertEqual(state.takeControl(of: first), [])
        XCTAssertEqual(state.takeControl(of: second), Self.register(1, "n"))
    }

    func testPausesDoubleUpToTheLongestAndEachErrorIsShownOnce() throws {
        var state = CenterState()
        _ = state.start()
        let error = DistributedError.tooManyObservers
        for (index, milliseconds) in [50, 100, 200, 400, 800, 1600, 3200, 5000, 5000].enumerated() {
            let (pause, event) = state.failed(error)
            XCTAssertEqual(pause, .milliseconds(milliseconds))
            XCTAssertEqual(event, index == 0 ? .failed(error) : nil)
            assertThrows(error) { try state.connection() }
        }
    }

    func testAfterTheEndOfAConnectionPostsWaitAndPausesDoubleOnlyIfItWasRefused() throws {
        var (state, sender) = try Self.connected()
        for (isRefusal, milliseconds) in [(true, 50), (true, 100), (false, 50), (false, 50)] {
            let (pause, event) = state.ended(reason: "r", isRefusal: isRefusal)
            XCTAssertTrue(pause == .milliseconds(milliseconds) && event == .interrupted(reason: "r"))
            XCTAssertNil(try state.connection())
            sender = try Self.sender()
            _ = state.connected(sender, toldSuspended: false)
        }
        // A server that stops answers no hello.
        state.lost(sender)
        let (pause, event) = state.failed(nil)
        XCTAssertTrue(pause == .milliseconds(100) && event == nil)
        XCTAssertNil(try state.connection())
    }

    func testObserversBeyondTheServersLimitAreRefused() throws {
        var state = CenterState()
        let first = Self.observed("n")
        for _ in 1..<Wire.observerLimit { try state.add(Self.observed("n")) }
        try state.add(first)
        assertThrows(DistributedError.tooManyObservers) { try state.add(Self.observed("n")) }
        _ = state.remove(first.handle.id)
        try state.add(first)
    }
}
