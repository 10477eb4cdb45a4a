import XCTest

@testable import ThreadedNotifications

/// Explores every order in which the steps of a few threads can follow each other. A step is one atomic exchange of the
/// state.
final class ObserverStateTests: XCTestCase {
    /// A step of a thread.
    private enum Step {
        /// Begins a handler. If that is refused, the thread's steps up to the next `end` have no effect.
        case begin
        /// As `begin`, for a handler that is called before `post` returns.
        case beginAtOnce
        /// Moves `many` to another counter if this thread's `beginAtOnce` reached it.
        case moveMany
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
        /// For each thread: its last `beginAtOnce` reached `many`.
        var reachedMany: [Bool]
        /// The sleeping threads, with the number of signals for each.
        var sleepers: [Int: Int] = [:]
        /// The number of running handlers, counted independently.
        var running = 0
        /// The number of handlers that began at once, counted independently.
        var atOnce: Int
        /// The number that `moveMany` moved to another counter.
        var moved = 0
        var wasCancelled = false
        var timesOver = 0
        var cancellations = 0

        init(threads: Int, atOnce: Int) {
            next = Array(repeating: 0, count: threads)
            isInHandler = Array(repeating: false, count: threads)
            reachedMany = isInHandler
            state = ObserverStateTests.state(atOnce: atOnce)
            self.atOnce = atOnce
        }
    }

    /// The state of an observer with this number of notifications handled at once.
    private static func state(atOnce count: Int) -> ObserverState {
        let one = (ObserverState.registered.begunAtOnce?.ended.word ?? 0)
        return ObserverState(word: one * UInt64(count))
    }

    private func explore(
        _ threads: [[Step]], atOnce: Int = 0, atEnd: (World) -> [String] = { _ in [] }
    ) -> (orders: Int, faults: [String]) {
        var faults: [String] = []
        let world = World(threads: threads.count, atOnce: atOnce)
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
        case .begin, .beginAtOnce:
            let isAtOnce = if case .beginAtOnce = step { true } else { false }
            let begun = isAtOnce ? old.begunAtOnce : old.begun
            world.isInHandler[thread] = begun != nil
            world.reachedMany[thread] = isAtOnce && begun?.countsMany == true
            guard let begun else {
                if !world.wasCancelled { faults.append("refused before the removal: \(world)") }
                return
            }
            if world.wasCancelled { faults.append("begins after the removal: \(world)") }
            world.state = begun
            world.running += 1
            if isAtOnce { world.atOnce += 1 }
        case .moveMany:
            guard world.reachedMany[thread], let less = old.withoutMany else { return }
            world.state = less
            world.moved += ObserverState.many
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
        if state.atOnce + world.moved != world.atOnce { faults.append("wrong number at once: \(world)") }
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

    func testManyAreMovedToAnotherCounterOnceByAThreadThatReachedThem() {
        let handled: [Step] = [.beginAtOnce, .moveMany, .end]
        for (threads, expected) in [
            ([handled, handled, handled], 1_680), ([handled + handled, handled], 84),
            ([handled, handled, [.cancel]], 140),
        ] {
            let (orders, faults) = explore(threads, atOnce: ObserverState.many - 2) { world in
                world.state.atOnce >= ObserverState.many ? ["many are left: \(world)"] : []
            }
            XCTAssertEqual(faults, [])
            XCTAssertEqual(orders, expected)
        }
    }

    func testItsPartsDoNotDependOnTheOrderOfTheChanges() {
        for running in 0..<5 {
            var state = ObserverState.registered
            for _ in 0..<running { state = state.begun ?? state }
            XCTAssertEqual(state.running, running)
            XCTAssertTrue(!state.isCancelled && !state.isAwaited && !state.isOver)
            XCTAssertEqual(state.cancelled.awaited, state.awaited.cancelled)
            XCTAssertEqual(state.cancelled.cancelled, state.cancelled)
            XCTAssertEqual(state.awaited.awaited, state.awaited)
            XCTAssertTrue(state.awaited.running == running && state.awaited.isAwaited && !state.awaited.isCancelled)
            XCTAssertTrue(
                state.cancelled.running == running && !state.cancelled.isAwaited && state.cancelled.isCancelled)
            XCTAssertEqual(state.awaited.begun?.ended, state.awaited)
            XCTAssertEqual(state.awaited.cancelled.isOver, (running == 0))
        }
    }

    func testAHandlerThatBeginsAtOnceRunsAndIsCountedItsEndDoesNotChangeTheNumber() throws {
        var state = ObserverState.registered
        for count in 1...1000 {
            state = try XCTUnwrap(state.begunAtOnce)
            XCTAssertTrue((state.running, state.atOnce) == (1, count))
            state = try XCTUnwrap(state.begun)
            XCTAssertTrue((state.running, state.atOnce) == (2, count))
            state = state.ended.ended
            XCTAssertTrue((state.running, state.atOnce) == (0, count))
        }
        XCTAssertTrue(!state.isCancelled && !state.isAwaited && !state.countsMany)
        XCTAssertEqual(state, Self.state(atOnce: 1000))
        let over = state.cancelled.awaited
        XCTAssertTrue(over.begunAtOnce == nil && over.begun == nil)
        XCTAssertTrue(over.isOver && over.isAwaited && over.atOnce == 1000)
    }

    func testMovingManyChangesTheNumberAtOnceAndNothingElse() throws {
        let beforeMany = Self.state(atOnce: ObserverState.many - 1)
        XCTAssertTrue(!beforeMany.countsMany && beforeMany.withoutMany == nil)
        for running in [0, 1, 5, 1_000_000] {
            for (isCancelled, isAwaited) in [(false, false), (true, false), (true, true)] {
                var state = beforeMany
                for _ in 0..<min(running, 5) { state = try XCTUnwrap(state.begun) }
                if running > 5 { state = ObserverState(word: state.word + 4 * UInt64(running - 5)) }
                var more = try XCTUnwrap(state.begunAtOnce)
                if isCancelled { more = more.cancelled }
                if isAwaited { more = more.awaited }
                XCTAssertTrue(more.countsMany && more.atOnce == ObserverState.many && more.running == running + 1)
                let less = try XCTUnwrap(more.withoutMany)
                XCTAssertTrue((less.atOnce, less.running) == (0, running + 1))
                XCTAssertTrue((less.isCancelled, less.isAwaited) == (isCancelled, isAwaited))
                XCTAssertNil(less.withoutMany)
                XCTAssertEqual(less.ended.running, running)
            }
        }
    }

    func testTheNumberDoesNotOverflowBeforeOneOfTheThreadsHasMovedMany() throws {
        // More threads than a process can have reach `many` at the same time, with 250 nested handlers each.
        let excess = 250 * (1 << 22)
        let state = try XCTUnwrap(Self.state(atOnce: ObserverState.many + excess).begunAtOnce)
        XCTAssertEqual(state.atOnce, ObserverState.many + excess + 1)
        XCTAssertTrue(state.running == 1 && !state.isCancelled && !state.isAwaited)
        XCTAssertEqual(state.withoutMany?.atOnce, excess + 1)
    }
}
