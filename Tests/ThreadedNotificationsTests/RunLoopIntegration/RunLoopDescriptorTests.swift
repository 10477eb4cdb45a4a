import CoreFoundation
import Dispatch
import Foundation
import Glibc
import PostingQueues
import SharedTesting
import XCTest

@testable import RunLoopIntegration
@testable import ThreadedNotifications

/// The descriptor of a thread that runs another main loop.
final class RunLoopDescriptorTests: XCTestCase {
    private let center = ThreadedNotificationCenter()
    private let posted = Notification.Name("posted")

    func testItIsReadableExactlyWhileANotificationOfAnotherThreadWaits() {
        // On a thread of its own, which nothing else wakes.
        Thread.posting(1) { [center, posted] in
            reportErrors {
                try RunLoopDescriptor.run { descriptor in
                    let handled = Locked(0)
                    let token = center.addObserver(forName: posted, on: .current) { _ in handled.withLock { $0 += 1 } }
                    try becomeQuiet(descriptor)
                    for number in 1...100 {
                        Thread.posting(1) { center.post(name: posted) }.wait()
                        XCTAssertTrue(descriptor.isReadable)
                        XCTAssertEqual(handled.withLock { $0 }, number - 1)
                        descriptor.drain()
                        XCTAssertEqual(handled.withLock { $0 }, number)
                        XCTAssertFalse(descriptor.isReadable)
                    }
                    token.cancel()
                }
            }
        }.wait()
    }

    func testItIsReadableForWhatWasEnqueuedBeforeATimerABlockOfTheMainQueueAndAJobOfTheMainActor() throws {
        let served = Locked(0)
        let token = center.addObserver(forName: posted, on: .main) { _ in served.withLock { $0 += 1 } }
        postElsewhere().wait()
        RunLoop.main.perform { served.withLock { $0 += 1 } }
        try RunLoopDescriptor.run { descriptor in
            try serve(descriptor) { served.withLock { $0 } == 2 }
            try becomeQuiet(descriptor)
            let timer = Timer(fire: .now, interval: 0.001, repeats: true) { _ in served.withLock { $0 += 1 } }
            RunLoop.main.add(timer, forMode: .common)
            try serve(descriptor) { served.withLock { $0 } >= 20 }
            timer.invalidate()
            try becomeQuiet(descriptor)
            served.withLock { $0 = 0 }
            Thread.detachNewThread { DispatchQueue.main.async { served.withLock { $0 += 1 } } }
            try serve(descriptor) { served.withLock { $0 } == 1 }
            Task.detached { await MainActor.run { served.withLock { $0 += 1 } } }
            try serve(descriptor) { served.withLock { $0 } == 2 }
            // Each block enqueues the next, so that the main queue is never empty.
            Self.enqueueOnMain(100) { served.withLock { $0 += 1 } }
            try serve(descriptor) { served.withLock { $0 } == 102 }
        }
        token.cancel()
    }

    private static func enqueueOnMain(_ count: Int, _ body: @escaping @Sendable () -> Void) {
        DispatchQueue.main.async {
            body()
            if count > 1 { enqueueOnMain(count - 1, body) }
        }
    }

    func testItIsReadableAfterEachBlockOfTheRunLoopThatAnotherThreadEnqueuesWithAWakeUp() throws {
        try RunLoopDescriptor.run { descriptor in
            try becomeQuiet(descriptor)
            let performed = Locked(0)
            let next = DispatchSemaphore(value: 1)
            Thread.detachNewThread {
                for _ in 1...100 {
                    // A wake-up may come so late, on a busy machine, that it is missed: see `LateCheck`.
                    while next.wait(timeout: .now() + 1) == .timedOut { CFRunLoopWakeUp(CFRunLoopGetMain()) }
                    CFRunLoopPerformBlock(CFRunLoopGetMain(), kCFRunLoopCommonModes) {
                        performed.withLock { $0 += 1 }
                        next.signal()
                    }
                    CFRunLoopWakeUp(CFRunLoopGetMain())
                }
            }
            try serve(descriptor) { performed.withLock { $0 } == 100 }
        }
    }

    func testASignalOfAnotherThreadDuringATimersHandlerIsHandledInTheSameDrainOrLeavesItReadable() throws {
        let received = CountingReceiver()
        let port = SignalPort()
        port.setDelegate(received)
        RunLoop.main.add(port, forMode: .common)
        let fired = Locked(0)
        try RunLoopDescriptor.run { descriptor in
            for number in 1...20 {
                let timer = Timer(fire: .now, interval: 0, repeats: false) { _ in
                    fired.withLock { $0 += 1 }
                    // The run loop ignores wake-ups while it calls this.
                    Thread.posting(1) { port.signal() }.wait()
                }
                RunLoop.main.add(timer, forMode: .common)
                try serve(descriptor) { fired.withLock { $0 } == number }
                // If the handler took longer than a drain may take, the next drain handles the signal.
                XCTAssertTrue(received.count == number || descriptor.isReadable)
                try serve(descriptor) { received.count == number }
            }
        }
        port.invalidate()
    }

    func testTheMainQueueIsServedWhileOtherThreadsPostAndSignalWithoutEnd() throws {
        let (isOver, served) = (Locked(false), Locked(0))
        let port = SignalPort()
        port.setDelegate(CountingReceiver())
        RunLoop.main.add(port, forMode: .common)
        // At most 100 wait, however slow the handlers are. A semaphore that ends below its first value traps, so that
        // is 0.
        let room = DispatchSemaphore(value: 0)
        for _ in 1...100 { room.signal() }
        let token = center.addObserver(forName: posted, on: .main) { _ in _ = room.signal() }
        try RunLoopDescriptor.run { descriptor in
            let posting = Thread.posting(2) { [center, posted] in
                while !isOver.withLock({ $0 }) {
                    room.wait()
                    center.post(name: posted)
                    port.signal()
                }
            }
            for number in 1...100 {
                DispatchQueue.main.async { served.withLock { $0 += 1 } }
                try serve(descriptor) { served.withLock { $0 } == number }
            }
            isOver.withLock { $0 = true }
            for _ in 1...2 { room.signal() }
            posting.wait()
        }
        port.invalidate()
        token.cancel()
    }

    func testTheMainQueueIsServedAgainAfterABlockOfItHasRunTheRunLoopOrTheOtherLoop() throws {
        for runsOtherLoop in [false, true] {
            let served = Locked<[Int]>([])
            try RunLoopDescriptor.run { descriptor in
                nonisolated(unsafe) let descriptor = descriptor  // On the main thread only.
                DispatchQueue.main.async {
                    DispatchQueue.main.async { served.withLock { $0.append(2) } }
                    if runsOtherLoop {
                        // In a block of the main queue it does not stay readable for the main queue.
                        reportErrors { try becomeQuiet(descriptor) }
                    } else {
                        let isOver = Locked(false)
                        RunLoop.main.perform { isOver.withLock { $0 = true } }
                        _ = MainActor.assumeIsolated { MainRunLoop.run { isOver.withLock { $0 } } }
                    }
                    served.withLock { $0.append(1) }
                }
                try serve(descriptor) { served.withLock { $0.count } == 2 }
            }
            XCTAssertEqual(served.withLock { $0 }, [1, 2], "\(runsOtherLoop)")
        }
    }

    func testADrainReturnsAlthoughAHandlerAlwaysPostsAgainAndItStaysReadable() throws {
        let handled = Locked(0)
        let token = center.addObserver(
            forName: posted, on: .main, options: ObserverOptions(sameThread: .later)
        ) { [center, posted] _ in
            handled.withLock { $0 += 1 }
            center.post(name: posted)
        }
        try RunLoopDescriptor.run { descriptor in
            center.post(name: posted)
            for _ in 1...10 {
                let before = handled.withLock { $0 }
                descriptor.drain()
                XCTAssertGreaterThan(handled.withLock { $0 }, before)
                XCTAssertTrue(descriptor.isReadable)
            }
            token.cancel()
            try becomeQuiet(descriptor)
        }
    }

    func testADrainEndsAfterItsBudgetOr8MillisecondsAndTheRestFollowsInOrder() throws {
        let budget = MainThread.main.drainBudget
        defer { MainThread.main.drainBudget = budget }
        for (budget, cost) in [(DrainBudget.deliveries(1), 0), (.unbounded, 1_000_000)] as [(DrainBudget, UInt64)] {
            MainThread.main.drainBudget = budget
            let handled = Locked<[Int]>([])
            let token = center.addObserver(forName: posted, on: .main) { notification in
                let begin = SystemThread.monotonicNanoseconds
                while SystemThread.monotonicNanoseconds - begin < cost {}
                handled.withLock { $0.append(notification.object as? Int ?? 0) }
            }
            try RunLoopDescriptor.run { descriptor in
                Thread.posting(1) { [center, posted] in
                    for number in 1...30 { center.post(name: posted, object: number) }
                }.wait()
                descriptor.drain()
                XCTAssertLessThan(handled.withLock { $0.count }, 30)
                XCTAssertTrue(descriptor.isReadable)
                try serve(descriptor) { handled.withLock { $0.count } == 30 }
            }
            XCTAssertEqual(handled.withLock { $0 }, Array(1...30))
            token.cancel()
        }
    }

    func testPostingQueuesPostAsSoonAsPossibleThenWhenIdle() throws {
        let queue = PostingQueue(center: center)
        let handled = Locked<[String]>([])
        let (idle, soon) = (Notification.Name("idle"), Notification.Name("soon"))
        let tokens = [idle, soon].map { name in
            center.addObserver(forName: name, on: .postingThread) { notification in
                handled.withLock { $0.append(notification.name.rawValue) }
            }
        }
        try RunLoopDescriptor.run { descriptor in
            for round in 1...20 {
                queue.enqueue(Notification(name: idle), postingStyle: .whenIdle)
                queue.enqueue(Notification(name: soon), postingStyle: .asap)
                try serve(descriptor) { handled.withLock { $0.count } == 2 * round }
            }
        }
        XCTAssertEqual(handled.withLock { $0 }, Array(repeating: ["soon", "idle"], count: 20).flatMap(\.self))
        for token in tokens { token.cancel() }
    }

    func testAHandlerMayRunTheRunLoopAndTheOtherLoop() throws {
        let handled = Locked<[String]>([])
        let tokens = ["outer", "inner"].map { name in
            center.addObserver(forName: Notification.Name(name), on: .main) { [center] notification in
                handled.withLock { $0.append(name) }
                guard name == "outer" else { return }
                Thread.posting(1) { center.post(name: Notification.Name("inner")) }.wait()
                if notification.object as? Int == 1 {
                    _ = MainActor.assumeIsolated { MainRunLoop.run { handled.withLock { $0.last == "inner" } } }
                } else {
                    reportErrors {
                        try RunLoopDescriptor.run { inner in
                            try serve(inner) { handled.withLock { $0.last == "inner" } }
                        }
                    }
                }
                handled.withLock { $0.append("end") }
            }
        }
        try RunLoopDescriptor.run { descriptor in
            for object in 1...2 {
                Thread.posting(1) { [center] in
                    center.post(name: Notification.Name("outer"), object: object)
                }.wait()
                try serve(descriptor) { handled.withLock { $0.count } == 3 * object }
            }
            try becomeQuiet(descriptor)
        }
        XCTAssertEqual(handled.withLock { $0 }, ["outer", "inner", "end", "outer", "inner", "end"])
        for token in tokens { token.cancel() }
    }

    func testAfterTheRunTheRunLoopServesTheThreadAndADrainHasNoEffect() throws {
        let handled = Locked(0)
        let token = center.addObserver(forName: posted, on: .main) { _ in handled.withLock { $0 += 1 } }
        let descriptor = try RunLoopDescriptor.run { descriptor in
            // Waits in the mailbox when the other loop ends.
            postElsewhere().wait()
            return descriptor
        }
        descriptor.drain()
        XCTAssertEqual(handled.withLock { $0 }, 0)
        _ = MainActor.assumeIsolated { MainRunLoop.run { handled.withLock { $0 } == 1 } }
        postElsewhere().wait()
        _ = MainActor.assumeIsolated { MainRunLoop.run { handled.withLock { $0 } == 2 } }
        token.cancel()
    }

    func testAnErrorAndAResultOfTheOtherLoopArePassedOn() throws {
        struct Failure: Error {}
        XCTAssertThrowsError(try RunLoopDescriptor.run { _ in throw Failure() }) { XCTAssertTrue($0 is Failure) }
        XCTAssertEqual(try RunLoopDescriptor.run { _ in 5 }, 5)
    }

    func testAnotherThreadIsServedAndLeavesNoDescriptorOfThisPackageHoweverItEnds() throws {
        /// Each runs on a thread of its own, and ends it.
        let bodies: [@Sendable () throws -> Void] = [
            { [center, posted] in
                try RunLoopDescriptor.run { descriptor in
                    let handled = Locked(0)
                    let token = center.addObserver(forName: posted, on: .current) { _ in handled.withLock { $0 += 1 } }
                    for number in 1...10 {
                        Thread.posting(1) { center.post(name: posted) }.wait()
                        try serve(descriptor) { handled.withLock { $0 } == number }
                    }
                    token.cancel()
                }
            },
            { try RunLoopDescriptor.run { _ in try RunLoopDescriptor.run { _ in Thread.exit() } } },
            { [center, posted] in
                try RunLoopDescriptor.run { descriptor in
                    let token = center.addObserver(forName: posted, on: .current) { _ in Thread.exit() }
                    Thread.posting(1) { center.post(name: posted) }.wait()
                    try serve(descriptor) { false }
                    withExtendedLifetime(token) {}
                }
            },
            {
                try RunLoopDescriptor.run { descriptor in
                    RunLoop.current.perform { Thread.exit() }
                    try serve(descriptor) { false }
                }
            },
        ]
        for (number, body) in bodies.enumerated() {
            for isOnRunLoopThread in [false, true] {
                let (before, threads) = (ProcessUsage.descriptors, 6)
                for _ in 0..<threads {
                    if isOnRunLoopThread {
                        let worker = try RunLoopThread.started("other loop")
                        try worker.perform {
                            reportErrors(body)
                            worker.stop()
                        }
                        try worker.waitUntilFinished(timeout: TestTimeout.hang)
                    } else {
                        let thread = try SystemThread.start { reportErrors(body) }.get()
                        XCTAssertTrue(thread.join(until: .after(TestTimeout.hang)))
                    }
                }
                // CoreFoundation leaves two for each, those of the run loop's mode. The process has others, which open
                // and close meanwhile.
                XCTAssertLessThan(ProcessUsage.descriptors - before, 5 * threads, "\(number) \(isOnRunLoopThread)")
            }
        }
    }

    func testABlockOfARunLoopThreadMayRunTheOtherLoopWhichIsReadableAtFirst() throws {
        let worker = try RunLoopThread.started("other loop")
        let handled = Locked(0)
        let token = center.addObserver(forName: posted, on: worker) { _ in handled.withLock { $0 += 1 } }
        try worker.performAndWait(timeout: TestTimeout.hang) {
            reportErrors {
                let isPerformed = Locked(false)
                RunLoop.current.perform { isPerformed.withLock { $0 = true } }
                try RunLoopDescriptor.run { descriptor in
                    XCTAssertTrue(descriptor.isReadable)
                    try serve(descriptor) { isPerformed.withLock { $0 } }
                }
            }
        }
        postElsewhere().wait()
        try worker.stopAndWait()
        XCTAssertEqual(handled.withLock { $0 }, 1)
        token.cancel()
    }

    private func postElsewhere() -> DispatchGroup {
        Thread.posting(1) { [center, posted] in center.post(name: posted) }
    }

}

// MARK: The other loop

/// Waits as another main loop does, and drains until `isOver`.
private func serve(_ descriptor: RunLoopDescriptor, until isOver: () -> Bool) throws {
    while !isOver() {
        var waiting = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, 60_000) > 0 else { throw NothingToDo() }
        descriptor.drain()
    }
}

/// Waits until nothing that has happened before makes the descriptor readable.
private func becomeQuiet(_ descriptor: RunLoopDescriptor) throws {
    try serve(descriptor) { descriptor.isQuiet }
}

private struct NothingToDo: Error {}

/// For closures that must not throw.
private func reportErrors(_ body: () throws -> Void) {
    do { try body() } catch { XCTFail("\(error)") }
}
