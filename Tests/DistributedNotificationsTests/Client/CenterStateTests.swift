import Foundation
import Glibc
import Testing
import ThreadedNotifications

@testable import DistributedNotifications

/// What a center knows is a value: connections are sockets that nobody writes to.
struct CenterStateTests {
    /// What a server would be told.
    private enum Told: Equatable {
        case register(UInt32, String?, String?, SuspensionBehavior)
        case unregister(UInt32)
        case suspension(Bool)
        case synchronize(UInt64)
        case other(UInt8)
    }

    private static func link() throws -> Link {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        close(ends[1])
        return Link(LocalSocket(owning: ends[0]), serverProcess: 1)
    }

    private static func observed(
        _ name: String?, _ object: String? = nil, _ behavior: SuspensionBehavior = .coalesce
    ) -> CenterState.Observed {
        let token = ThreadedNotificationCenter().addObserver(forName: nil, on: .postingThread) { _ in }
        return CenterState.Observed(token: token, name: name, object: object, behavior: behavior)
    }

    private static func told(_ state: inout CenterState, _ link: Link) throws -> [Told] {
        let bytes = state.takeControl(of: link)
        var decoder = FrameDecoder(capacity: 1 << 20)
        if bytes.isEmpty { return [] }
        decoder.space().copyBytes(from: bytes)
        decoder.received(bytes.count)
        var told: [Told] = []
        while let frame = try decoder.next() {
            var reader = WireReader(frame.payload)
            switch FrameKind(rawValue: frame.kind) {
            case .register:
                let number = try reader.integer(UInt32.self)
                let behavior = try #require(SuspensionBehavior(wireValue: try reader.integer(UInt8.self)))
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
        #expect(isWhole)
        return told
    }

    @Test func aReaderIsStartedOnce() {
        var state = CenterState()
        let starts = [state.start(), state.start()]
        #expect(starts == [true, false])
    }

    @Test func aNewConnectionIsToldEverythingInTheOrderInWhichItWasAskedFor() throws {
        var state = CenterState()
        _ = state.start()
        var numbers: [UInt32] = []
        for index in 0..<20 { numbers.append(try state.add(Self.observed("\(index)", nil, .hold), limit: 100)) }
        _ = state.remove(numbers[3])
        _ = state.setSuspended(true)
        let (synchronization, _) = try state.synchronize()
        for _ in 0..<2 {
            let link = try Self.link()
            let isNew = state.connected(link, saidSuspended: false)
            #expect(isNew)
            let told = try Self.told(&state, link)
            let kept = numbers.enumerated().filter { $0.offset != 3 }
            #expect(
                told == [.suspension(true)] + kept.map { .register($0.element, "\($0.offset)", nil, .hold) }
                    + [.synchronize(synchronization)])
            let again = try Self.told(&state, link)
            #expect(again == [])
            state.lost(link)
        }
    }

    @Test func whatTheHelloSaidIsNotSaidAgain() throws {
        var state = CenterState()
        _ = state.start()
        _ = state.setSuspended(true)
        let link = try Self.link()
        _ = state.connected(link, saidSuspended: true)
        let told = try Self.told(&state, link)
        #expect(told == [])
    }

    @Test func whileConnectedTheServerIsToldEachChangeOnce() throws {
        var state = CenterState()
        _ = state.start()
        let link = try Self.link()
        _ = state.connected(link, saidSuspended: false)
        let first = try state.add(Self.observed(nil, "object"), limit: 10)
        let second = try state.add(Self.observed("n", nil, .drop), limit: 10)
        let removed = [state.remove(first) != nil, state.remove(first) != nil]
        #expect(removed == [true, false])
        let changes = [state.setSuspended(true), state.setSuspended(true)]
        #expect(changes == [true, false])
        let told = try Self.told(&state, link)
        // What was never told need not be taken back.
        #expect(told == [.register(second, "n", nil, .drop), .suspension(true)])
        _ = state.remove(second)
        _ = state.setSuspended(false)
        let changed = try Self.told(&state, link)
        #expect(changed == [.unregister(second), .suspension(false)])
        let third = try state.add(Self.observed("n"), limit: 10)
        #expect(Set([first, second, third]).count == 3)
    }

    @Test func anEarlierConnectionIsToldNothingAndItsEndIsNotTheLatersEnd() throws {
        var state = CenterState()
        _ = state.start()
        let (first, second) = (try Self.link(), try Self.link())
        _ = state.connected(first, saidSuspended: false)
        state.lost(first)
        _ = state.connected(second, saidSuspended: false)
        state.lost(first)
        #expect(state.link === second)
        _ = try state.add(Self.observed("n"), limit: 10)
        let toFirst = try Self.told(&state, first)
        let toSecond = try Self.told(&state, second)
        #expect(toFirst == [])
        #expect(toSecond.count == 1)
    }

    @Test func whoWaitsIsWokenByAConnectionAFailureAndTheEnd() throws {
        var state = CenterState()
        _ = state.start()
        func isWoken(_ semaphore: MonotonicSemaphore) -> Bool { semaphore.wait(until: .now) }
        let failure = state.waiter()
        #expect(!isWoken(failure))
        state.failed(.closed)
        #expect(isWoken(failure))
        guard case .connecting(.closed?) = state.phase else {
            Issue.record("\(state.phase)")
            return
        }
        let connection = state.waiter()
        let link = try Self.link()
        _ = state.connected(link, saidSuspended: false)
        #expect(isWoken(connection))
        // A failure of an attempt that is over changes nothing.
        state.failed(.closed)
        #expect(state.link === link)
        state.lost(link)
        let end = state.waiter()
        let (_, synchronization) = try state.synchronize()
        _ = state.close()
        #expect(isWoken(end))
        #expect(isWoken(synchronization))
    }

    @Test func aClosedCenterTakesNothingAndGivesItsConnectionBack() throws {
        var state = CenterState()
        _ = state.start()
        let link = try Self.link()
        _ = state.connected(link, saidSuspended: false)
        let number = try state.add(Self.observed("n"), limit: 10)
        let closed = state.close()
        #expect(closed.link === link)
        #expect(closed.observers.count == 1)
        #expect(throws: DistributedError.closed) { try state.add(Self.observed("n"), limit: 10) }
        #expect(throws: DistributedError.closed) { try state.synchronize() }
        let connects = state.connected(try Self.link(), saidSuspended: false)
        #expect(!connects)
        let removed = state.remove(number)
        #expect(removed == nil)
        state.lost(link)
        #expect(state.isClosed)
        let again = state.close()
        #expect(again.link == nil)
    }

    @Test func thereAreNoMoreObserversThanAServerTakes() throws {
        var state = CenterState()
        let first = try state.add(Self.observed("n"), limit: 2)
        _ = try state.add(Self.observed("n"), limit: 2)
        #expect(throws: DistributedError.tooManyObservers(limit: 2)) { try state.add(Self.observed("n"), limit: 2) }
        _ = state.remove(first)
        _ = try state.add(Self.observed("n"), limit: 2)
    }
}
