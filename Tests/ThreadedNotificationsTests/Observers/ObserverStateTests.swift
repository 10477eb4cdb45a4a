import XCTest

@testable import ThreadedNotifications

/// Explores every order in which the steps of a few threads can follow each other. A step is one atomic exchange of the
/// state.
final class ObserverStateTests: XCTestCase {
    /// A step of a thread.
    private enum Step {
        /// Begins a handler. If that is refused, the thread's steps up to the next `end` have no effect.
        case begin
        case end
        case cancel
        /// Marks the state as awaited.
        case await
        /// Checks whether more handlers run than this thread's own. If so, sleeps until one ends and checks again.
        case waitForOthers(own: Int)
    }

    private struct World {
        var state = ObserverState.registered
        /// The index of each thread's next step.
        var next: [Int]
        /// For each thread: its last `begin` was accepted.
        var isInHandler: [Bool]
        /// The sleeping threads, with the number of signals for each.
        var sleepers: [Int: Int] = [:]
        /// The number of running handlers, counted independently.
        var running = 0
        var wasCancelled = false
        var timesOver = 0
        var cancellations = 0

        init(threads: Int) {
            next = Array(repeating: 0, count: threads)
            isInHandler = Array(repeating: false, count: threads)
        }
    }

    private func explore(
        _ threads: [[Step]], atEnd: (World) -> [String] = { _ in [] }
    ) -> (orders: Int, faults: [String]) {
        var faults: [String] = []
        let world = World(threads: threads.count)
        return (explore(threads, world, &faults, atEnd), faults)
    }

    /// - Returns: the number of possible orders.
    private func explore(
        _ threads: [[Step]], _ world: World, _ faults: inout [String], _ atEnd: (World) -> [String]
    ) -> Int {
        var orders = 0
        var isDone = true
        for (thread, steps) in threads.enumerated() where world.next[thread] < steps.count {
            isDone = false
            if world.sleepers[thread] == 0 { continue }
            var after = world
            take(steps[world.next[thread]], of: thread, &after, &faults)
            orders += explore(threads, after, &faults, atEnd)
            if !faults.isEmpty { return orders }
        }
        if isDone {
            if world.state.isCancelled != (world.timesOver == 1) {
                faults.append("over \(world.timesOver) times: \(world)")
            }
            faults += atEnd(world)
            return 1
        }
        if orders == 0 { faults.append("a thread sleeps for ever: \(world)") }
        return orders
    }

    private func take(_ step: Step, of thread: Int, _ world: inout World, _ faults: inout [String]) {
        let old = world.state
        world.next[thread] += 1
        switch step {
        case .begin:
            let begun = old.begun
            world.isInHandler[thread] = begun != nil
            guard let begun else {
                if !world.wasCancelled { faults.append("refused before the removal: \(world)") }
                return
            }
            if world.wasCancelled { faults.append("begins after the removal: \(world)") }
            world.state = begun
            world.running += 1
        case .end:
            guard world.isInHandler[thread] else { return }
            world.state = old.ended
            world.running -= 1
            if world.state.isOver { world.timesOver += 1 }
            if world.state.isAwaited { for sleeper in world.sleepers.keys { world.sleepers[sleeper]! += 1 } }
        case .cancel:
            world.state = old.cancelled
            world.wasCancelled = true
            if !old.isCancelled {
                world.cancellations += 1
                if world.state.isOver { world.timesOver += 1 }
            }
        case .await:
            world.state = old.awaited
            // One signal, so that the thread checks before it sleeps.
            world.sleepers[thread] = 1
        case .waitForOthers(let own):
            world.sleepers[thread]! -= 1
            if old.running > own { world.next[thread] -= 1 } else { world.sleepers[thread] = nil }
        }
        check(world, after: old, &faults)
    }

    private func check(_ world: World, after old: ObserverState, _ faults: inout [String]) {
        let state = world.state
        if state.running != world.running { faults.append("wrong number of running handlers: \(world)") }
        if state.isCancelled != world.wasCancelled { faults.append("the removal is lost: \(world)") }
        if state.isOver != (world.wasCancelled && world.running == 0) { faults.append("over too late: \(world)") }
        if old.isAwaited && !state.isAwaited { faults.append("the waiting thread is lost: \(world)") }
    }

    func testAfterTheRemovalNoHandlerBeginsAndTheStateIsOverExactlyOnce() {
        let (orders, faults) = explore(
            [[.begin, .end, .begin, .end], [.begin, .end, .begin, .end], [.cancel], [.cancel]]
        ) { world in
            var faults: [String] = []
            if !world.state.isOver { faults.append("not over at the end: \(world)") }
            if world.cancellations != 1 { faults.append("\(world.cancellations) removals were the first: \(world)") }
            return faults
        }
        XCTAssertEqual(faults, [])
        // All orders of 4, 4, 1 and 1 steps.
        XCTAssertEqual(orders, 6_300)
    }

    func testAThreadThatWaitsForTheHandlersSleepsUntilTheLastOneHasReturnedAndNoLonger() {
        let (orders, faults) = explore(
            [
                [.begin, .end], [.begin, .end, .begin, .end],
                [.cancel, .await, .waitForOthers(own: 0)], [.cancel],
            ]
        ) { world in
            world.state.isOver && world.state.isAwaited ? [] : ["not over or not awaited: \(world)"]
        }
        XCTAssertEqual(faults, [])
        XCTAssertGreaterThan(orders, 1_000)
    }

    func testAHandlerThatRemovesItsOwnObserverWaitsForTheOtherHandlersOnly() {
        let (orders, faults) = explore(
            [[.begin, .cancel, .await, .waitForOthers(own: 1), .end], [.begin, .end], [.begin, .end]]
        ) { world in
            world.state.isOver ? [] : ["not over: \(world)"]
        }
        XCTAssertEqual(faults, [])
        XCTAssertGreaterThan(orders, 100)
    }
}
