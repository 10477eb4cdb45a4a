import Foundation
import SharedTesting
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

/// Run loops with random work behave as the model.
final class RandomRunLoopTests: XCTestCase {
    private let limit = DispatchTimeInterval.seconds(60)

    func testTheMainThreadsRunLoop() throws {
        let other = try RunLoopThread.started("other")
        for seed in 0..<TestRounds.rounds(40, stress: 500) as Range<UInt64> {
            let runLoop = RandomRunLoop(seed: seed, mayMakeCommon: false, other: other)
            runLoop.attach()
            runLoop.drive()
            runLoop.detach()
            if let wrong = runLoop.wrong { return XCTFail(wrong) }
        }
        try other.stopAndWait()
    }

    func testTheRunLoopOfAThreadSeveralTimes() throws {
        let (thread, other) = (try RunLoopThread.started("shared"), try RunLoopThread.started("other"))
        for seed in 1_000..<1_000 + TestRounds.rounds(40, stress: 400) as Range<UInt64> {
            let runLoop = RandomRunLoop(seed: seed, mayMakeCommon: false, other: other)
            let isOver = DispatchSemaphore(value: 0)
            try thread.perform {
                runLoop.attach()
                runLoop.begin()
                // Half of them continue in the thread's own run, and then with runs in a handler.
                let drive = {
                    runLoop.drive()
                    runLoop.detach()
                    isOver.signal()
                }
                if seed % 2 == 0 { drive() } else { runLoop.whenIdle(drive) }
            }
            guard isOver.wait(timeout: .now() + limit) == .success else {
                return XCTFail("seed \(seed): it is not over")
            }
            // The test may have finished in a handler that has not returned.
            try thread.performAndWait(timeout: TestTimeout.hang) {}
            if let wrong = runLoop.wrong { return XCTFail(wrong) }
        }
        try thread.stopAndWait()
        try other.stopAndWait()
    }

    func testTheRunLoopOfANewThreadAndItsEnd() throws {
        let other = try RunLoopThread.started("other")
        for seed in 2_000..<2_000 + TestRounds.rounds(40, stress: 300) as Range<UInt64> {
            let runLoop = RandomRunLoop(seed: seed, mayMakeCommon: true, other: other)
            let thread = RunLoopThread(name: "new")
            if seed % 2 == 0 { runLoop.prepare(for: thread) }
            try thread.start()
            try thread.perform {
                runLoop.attach()
                runLoop.begin()
                if seed % 3 == 0 { runLoop.drive() }
                runLoop.endBegins()
                thread.stop()
            }
            try thread.waitUntilFinished(timeout: TestTimeout.hang)
            runLoop.checkAfterTheEnd()
            runLoop.detach()
            if let wrong = runLoop.wrong { return XCTFail(wrong) }
        }
        try other.stopAndWait()
    }
}
