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

    // MARK: The condition

    func testAConditionThatAHandlerBringsAboutEndsTheRun() throws {
        let worker = try RunLoopThread.started("worker")
        try onMain {
            var handled = 0
            let token = Self.center.addObserver(forName: Self.name, on: .current) { _ in handled += 1 }
            try worker.perform { for _ in 1...3 { Self.center.post(name: Self.name) } }
            XCTAssertEqual(try Self.run { handled == 3 }, .conditionHeld)
            XCTAssertEqual(handled, 3)
            token.cancel()
        }
        try worker.stopAndWait()
    }

    func testAConditionThatAnyInputOfTheRunLoopBringsAboutEndsTheRun() throws {
        let queue = PostingQueue.default(for: Self.center)
        let inputs: [(name: String, begin: @MainActor (_ note: @escaping @MainActor () -> Void) -> Void)] = [
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
            XCTAssertEqual(evaluations, 1)
            XCTAssertFalse(isPerformed)
            try Self.run { isPerformed }
        }
    }

    // MARK: Stopping

    func testStopOnAnyThreadEndsTheRun() throws {
        let worker = try RunLoopThread.started("worker")
        try onMain {
            for _ in 0..<TestRounds.rounds(100, stress: 10_000) {
                try worker.perform { MainRunLoop.stop() }
                XCTAssertEqual(try Self.run(), .stopped)
            }
        }
        try worker.stopAndWait()
    }

    func testAStopComesAfterWhatItsThreadHasEnqueuedBefore() throws {
        let worker = try RunLoopThread.started("worker")
        try onMain {
            var handled = 0
            let performed = Log()
            let token = Self.center.addObserver(forName: Self.name, on: .main) { _ in handled += 1 }
            for round in 1...TestRounds.rounds(100, stress: 10_000) {
                try worker.perform {
                    for _ in 1...50 { Self.center.post(name: Self.name) }
                    try? MainThread.main.perform { performed.lines.append("") }
                    MainRunLoop.stop()
                }
                XCTAssertEqual(try Self.run(), .stopped)
                XCTAssertEqual(handled, 50 * round)
                XCTAssertEqual(performed.lines.count, round)
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

    // MARK: Nested runs

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

    // MARK: Signals

    func testASignalEndsTheRunAndItsEffectIsRestored() throws {
        signal(SIGUSR2) { _ in signalled.store(true, ordering: .relaxed) }
        defer { signal(SIGUSR2, SIG_DFL) }
        try onMain {
            for number in [SIGUSR1, SIGUSR2] {
                // Another thread handles the signal when the run has begun, and usually while the run loop waits.
                RunLoop.main.perform { Thread.detachNewThread { raise(number) } }
                XCTAssertEqual(try Self.run(stoppingOn: [SIGUSR1, SIGUSR2, SIGUSR2]), .signal(number))
            }
        }
        XCTAssertFalse(signalled.load(ordering: .relaxed))
        raise(SIGUSR2)
        XCTAssertTrue(signalled.exchange(false, ordering: .relaxed))
        var action = sigaction()
        sigaction(SIGUSR1, nil, &action)
        XCTAssertNil(action.__sigaction_handler.sa_handler)
    }

    func testASignalThatArrivesAsTheRunEndsHasItsRestoredEffect() throws {
        signal(SIGUSR2) { _ in signalled.store(true, ordering: .relaxed) }
        defer { signal(SIGUSR2, SIG_DFL) }
        try onMain {
            let end = try Self.run(
                until: {
                    raise(SIGUSR2)
                    return true
                }, stoppingOn: [SIGUSR2])
            XCTAssertEqual(end, .conditionHeld)
            XCTAssertTrue(signalled.exchange(false, ordering: .relaxed))
        }
    }
}

@MainActor
private final class Log {
    var lines: [String] = []
}

private let signalled = Atomic(false)
