import Dispatch
import Foundation
import PostingQueues
import SharedTesting
import Synchronization
import ThreadedNotifications
import XCTest

/// Synchronous tests run on the main thread.
final class MainRunLoopTests: XCTestCase {
    private static let name = Notification.Name("main")

    private static let center = ThreadedNotificationCenter()

    /// Runs the main run loop; a test that hangs is ended by `stop()`.
    @MainActor @discardableResult
    private static func run(
        until condition: @MainActor () -> Bool = { false }, stoppingOn signals: [CInt] = []
    ) throws -> MainRunLoop.End {
        let watchdog = try TargetThread.postingThread.perform(after: TestTimeout.hang) { MainRunLoop.stop() }
        defer { watchdog.cancel() }
        return MainRunLoop.run(until: condition, stoppingOn: signals)
    }

    private func onMain(_ body: @MainActor () throws -> Void) rethrows {
        try MainActor.assumeIsolated { try body() }
    }

    func testAConditionThatAnyInputOfTheRunLoopBringsAboutEndsTheRun() throws {
        let queue = PostingQueue.default(for: Self.center)
        let inputs: [(name: String, begin: @MainActor (_ note: @escaping @MainActor () -> Void) -> Void)] = [
            ("notification", { _ in DispatchQueue.global().async { Self.center.post(name: Self.name) } }),
            ("timer", { note in RunLoop.addDueTimer { MainActor.assumeIsolated(note) } }),
            ("block of the run loop", { note in RunLoop.main.perform { MainActor.assumeIsolated(note) } }),
            ("block of the main queue", { note in DispatchQueue.main.async { note() } }),
            ("task of the main actor", { note in Task { @MainActor in note() } }),
            ("block for main", { note in DispatchQueue.global().async { try? MainThread.main.perform(note) } }),
            ("idle notification", { _ in queue.enqueue(Notification(name: Self.name), postingStyle: .whenIdle) }),
            ("soon", { _ in queue.enqueue(Notification(name: Self.name), postingStyle: .asap) }),
        ]
        try onMain {
            for input in inputs {
                var isNoted = false
                let token = Self.center.addObserver(forName: Self.name, on: .current) { _ in isNoted = true }
                input.begin { isNoted = true }
                XCTAssertEqual(try Self.run { isNoted }, .conditionHeld, input.name)
                token.cancel()
            }
        }
    }

    func testAConditionThatHoldsAlreadyIsEvaluatedOnceAndTheRunLoopDoesNotRun() throws {
        try onMain {
            var (evaluations, isPerformed) = (0, false)
            RunLoop.main.perform { MainActor.assumeIsolated { isPerformed = true } }
            let end = try Self.run {
                evaluations += 1
                return true
            }
            XCTAssertEqual(end, .conditionHeld)
            XCTAssertTrue(evaluations == 1 && !isPerformed)
            try Self.run { isPerformed }
        }
    }

    func testAStopComesAfterWhatItsThreadHasEnqueuedBefore() throws {
        let worker = try RunLoopThread.started("worker")
        try onMain {
            var handled = 0
            let token = Self.center.addObserver(forName: Self.name, on: .main) { _ in handled += 1 }
            for round in 1...TestRounds.rounds(50, stress: 10_000) {
                try worker.perform {
                    for _ in 1...50 { Self.center.post(name: Self.name) }
                    MainRunLoop.stop()
                }
                XCTAssertEqual(try Self.run(), .stopped)
                XCTAssertEqual(handled, 50 * round)
            }
            token.cancel()
        }
        try worker.stopAndWait()
    }

    func testAStopBeforeTheRunCountsOnce() throws {
        MainRunLoop.stop()
        MainRunLoop.stop()
        try onMain {
            XCTAssertEqual(try Self.run { true }, .stopped)
            XCTAssertEqual(try Self.run { true }, .conditionHeld)
        }
    }

    func testOtherCodeThatStopsTheRunLoopDoesNotEndTheRun() throws {
        try onMain {
            var isOver = false
            RunLoop.main.perform {
                RunLoop.stopCurrent()
                RunLoop.addDueTimer { MainActor.assumeIsolated { isOver = true } }
            }
            XCTAssertEqual(try Self.run { isOver }, .conditionHeld)
            XCTAssertTrue(isOver)
        }
    }

    func testAStopEndsTheInnermostRun() throws {
        try onMain {
            var ends: [MainRunLoop.End] = []
            var isOver = false
            RunLoop.main.perform {
                MainActor.assumeIsolated {
                    RunLoop.main.perform { MainRunLoop.stop() }
                    try? ends.append(Self.run())
                    isOver = true
                }
            }
            try ends.append(Self.run { isOver })
            XCTAssertEqual(ends, [.stopped, .conditionHeld])
        }
    }

    func testASignalEndsTheRunAndItsEffectIsRestoredAlsoForOneThatArrivesAsTheRunEnds() throws {
        signal(SIGUSR2) { _ in signalled.store(true, ordering: .relaxed) }
        defer { signal(SIGUSR2, SIG_DFL) }
        try onMain {
            for number in [SIGUSR1, SIGUSR2] {
                // Another thread handles the signal when the run has begun, and usually while the run loop waits.
                RunLoop.main.perform { Thread.detachNewThread { raise(number) } }
                XCTAssertEqual(try Self.run(stoppingOn: [SIGUSR1, SIGUSR2, SIGUSR2]), .signal(number))
            }
            XCTAssertFalse(signalled.load(ordering: .relaxed))
            let end = try Self.run(
                until: {
                    raise(SIGUSR2)
                    return true
                }, stoppingOn: [SIGUSR2])
            XCTAssertEqual(end, .conditionHeld)
            XCTAssertTrue(signalled.exchange(false, ordering: .relaxed))
        }
        var action = sigaction()
        sigaction(SIGUSR1, nil, &action)
        XCTAssertNil(action.__sigaction_handler.sa_handler)
    }
}

private let signalled = Atomic(false)
