import Foundation
import Testing

@testable import ThreadedNotifications

@Suite("ValueObservers")
struct ValueObserversTests {
    private static let name = Notification.Name("value")

    private let location = ThreadedNotifications.SourceLocation("test", 0)

    @Test("a value that is delivered on the calling thread is counted once, and so is one for a removed observer")
    func counters() {
        let observers = ValueObservers()
        let values = Locked<[Int]>([])
        let (token, handle) = observers.add(
            named: Self.name, on: .postingThread, options: ObserverOptions(), at: location
        ) { (value: Int) in values.withLock { $0.append(value) } }
        observers.deliver(1, named: Self.name, to: [handle])
        #expect(token.counters == DeliveryCounters(delivered: 1))
        token.cancel()
        observers.deliver(2, named: Self.name, to: [handle])
        #expect(values.withLock { $0 } == [1])
        #expect(token.counters == DeliveryCounters(delivered: 1, cancelled: 1))
    }

    @Test("what a handler delivers on the calling thread does not overtake on other threads")
    func order() throws {
        let observers = ValueObservers()
        let worker = try RunLoopThread.started("worker")
        let values = Locked<[Int]>([])
        let (remote, remoteHandle) = observers.add(
            named: Self.name, on: worker, options: ObserverOptions(), at: location
        ) { (value: Int) in values.withLock { $0.append(value) } }
        let (local, localHandle) = observers.add(
            named: Self.name, on: .postingThread, options: ObserverOptions(), at: location
        ) { (value: Int) in
            if value == 1 { observers.deliver(2, named: Self.name, to: [remoteHandle]) }
        }
        observers.deliver(1, named: Self.name, to: [localHandle, remoteHandle])
        try worker.stopAndWait()
        #expect(values.withLock { $0 } == [1, 2])
        #expect(remote.counters == DeliveryCounters(delivered: 2))
        #expect(local.counters == DeliveryCounters(delivered: 1))
    }

    @Test("the policy keepLatest compares the name and the object of values")
    func keepLatest() throws {
        let observers = ValueObservers()
        let worker = try RunLoopThread.started("worker")
        let resume = try worker.keptBusy()
        let values = Locked<[String]>([])
        let (token, handle) = observers.add(
            named: Self.name, on: worker, options: ObserverOptions(overflow: .keepLatest), at: location
        ) { (value: String) in values.withLock { $0.append(value) } }
        for (value, object) in [("a1", "a"), ("b1", "b"), ("a2", "a")] {
            observers.deliver(value, named: Self.name, object: object, to: [handle])
        }
        resume.signal()
        try worker.stopAndWait()
        #expect(values.withLock { $0 } == ["b1", "a2"])
        #expect(token.counters == DeliveryCounters(delivered: 2, coalesced: 1))
    }

    @Test("a token that is released removes its observer, and the owner is told once")
    func removal() {
        let removed = Locked<[UInt64]>([])
        let observers = ValueObservers { id in removed.withLock { $0.append(id) } }
        do {
            let (token, _) = observers.add(
                named: Self.name, on: .postingThread, options: ObserverOptions(), at: location
            ) { (_: Int) in }
            #expect(!observers.isEmpty && observers.own(token) && !ValueObservers().own(token))
            token.cancel()
        }
        #expect(observers.isEmpty)
        #expect(removed.withLock { $0.count } == 1)
    }
}
