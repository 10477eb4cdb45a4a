import Foundation
import XCTest

@testable import ThreadedNotifications

extension RunLoopThread {
    /// A new thread that runs.
    static func started(_ name: String) throws(DeliveryError) -> RunLoopThread {
        let thread = RunLoopThread(name: name)
        try thread.start()
        return thread
    }

    /// Keeps the thread busy until the semaphore that it returns is signalled.
    func keptBusy() throws(DeliveryError) -> DispatchSemaphore {
        let (busy, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        try perform {
            busy.signal()
            goOn.wait()
        }
        busy.wait()
        return goOn
    }

    /// Lets it do what waits, and end.
    func stopAndWait() throws(DeliveryError) {
        stop()
        try waitUntilFinished(timeout: TestLimit.hang)
    }
}

extension Thread {
    /// Runs a block on so many new threads, and returns what waits for their ends.
    static func posting(_ threads: Int, _ block: @escaping @Sendable () -> Void) -> DispatchGroup {
        let group = DispatchGroup()
        for _ in 0..<threads {
            group.enter()
            Thread.detachNewThread {
                block()
                group.leave()
            }
        }
        return group
    }
}

/// The events that happen meanwhile, of one observer if one is named.
func tracing(of observer: UInt64? = nil, _ body: () throws -> Void) throws -> [DeliveryEvent] {
    let events = Locked<[DeliveryEvent]>([])
    DeliveryEvent.tracer = { event in
        if observer == nil || event.observer == observer { events.withLock { $0.append(event) } }
    }
    defer { DeliveryEvent.tracer = nil }
    try body()
    return events.withLock { $0 }
}

/// An object that observes with a method.
final class MethodObserver {
    private let log: Locked<[String]>
    private let whenHandled: () -> Void

    init(_ log: Locked<[String]>, whenHandled: @escaping () -> Void = {}) {
        self.log = log
        self.whenHandled = whenHandled
    }

    deinit { log.withLock { $0.append("gone") } }

    func handle(_ notification: Notification) {
        whenHandled()
        log.withLock { $0.append("handled") }
    }
}

/// Tells when it is released.
final class ReleaseRecorder: Sendable {
    private let released: @Sendable () -> Void

    init(_ released: @escaping @Sendable () -> Void) {
        self.released = released
    }

    deinit { released() }
}

extension RunLoopThread {
    /// Whether this is the calling thread.
    var isCurrent: Bool { identity == ThreadIdentity.current }
}
