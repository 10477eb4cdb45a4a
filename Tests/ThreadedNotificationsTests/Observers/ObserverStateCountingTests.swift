import Testing

@testable import ThreadedNotifications

/// What an observer's word counts beside its handlers. A step is one exchange of the word, as `Registration` makes it.
@Suite("What ObserverState counts")
struct ObserverStateCountingTests {
    private static let beforeMany = lives(atOnce: ObserverState.many - 1)

    /// An observer so many of whose notifications were handled at once.
    private static func lives(atOnce count: Int) -> ObserverState {
        let one = (ObserverState.registered.begunAtOnce?.ended.word ?? 0)
        return ObserverState(word: one * UInt64(count))
    }

    @Test("a handler that begins at once runs and is counted; its end is not")
    func begunAtOnce() throws {
        var life = ObserverState.registered
        for count in 1...1000 {
            life = try #require(life.begunAtOnce)
            #expect((life.running, life.atOnce) == (1, count))
            life = try #require(life.begun)
            #expect((life.running, life.atOnce) == (2, count))
            life = life.ended.ended
            #expect((life.running, life.atOnce) == (0, count))
        }
        #expect(!life.isCancelled && !life.isAwaited && !life.countsMany)
        #expect(life == Self.lives(atOnce: 1000))
        let over = life.cancelled.awaited
        #expect(over.begunAtOnce == nil && over.begun == nil)
        #expect(over.isOver && over.isAwaited && over.atOnce == 1000)
    }

    @Test("many are taken off when there are many, no sooner, and nothing else changes")
    func many() throws {
        #expect(!Self.beforeMany.countsMany && Self.beforeMany.withoutMany == nil)
        for running in [0, 1, 5, 1_000_000] {
            for (isCancelled, isAwaited) in [(false, false), (true, false), (true, true)] {
                var life = Self.beforeMany
                for _ in 0..<min(running, 5) { life = try #require(life.begun) }
                if running > 5 { life = ObserverState(word: life.word + 4 * UInt64(running - 5)) }
                var more = try #require(life.begunAtOnce)
                if isCancelled { more = more.cancelled }
                if isAwaited { more = more.awaited }
                #expect(more.countsMany && more.atOnce == ObserverState.many && more.running == running + 1)
                let less = try #require(more.withoutMany)
                #expect((less.atOnce, less.running) == (0, running + 1))
                #expect((less.isCancelled, less.isAwaited) == (isCancelled, isAwaited))
                #expect(less.withoutMany == nil)
                #expect(less.ended.running == running)
            }
        }
    }

    @Test("there is room for as many as threads may add before one of them takes many off")
    func room() throws {
        // More than there can be threads find it so at the same time, each 250 deep.
        let most = Self.lives(atOnce: ObserverState.many + 250 * (1 << 22))
        let life = try #require(most.begunAtOnce)
        #expect(life.atOnce == ObserverState.many + 250 * (1 << 22) + 1)
        #expect(life.running == 1 && !life.isCancelled && !life.isAwaited)
        #expect(life.withoutMany?.atOnce == 250 * (1 << 22) + 1)
    }

    // MARK: Every order of several threads' steps

    private enum Step {
        /// Begins at once; if that is refused, the thread is through.
        case begin
        /// Takes many off, if its own `begin` found them.
        case takeOff
        case end
        case cancel
    }

    private struct World {
        var life: ObserverState
        var next: [Int]
        var foundMany: [Bool]
        var began = 0
        /// What the counters has.
        var takenOff = 0
        var running = 0
        var timesOver = 0
    }

    private func explore(_ threads: [[Step]], _ world: World, faults: inout [String]) -> Int {
        var ways = 0
        var isDone = true
        for (thread, steps) in threads.enumerated() where world.next[thread] < steps.count {
            isDone = false
            var after = world
            take(steps[world.next[thread]], of: thread, steps.count, &after, &faults)
            ways += explore(threads, after, faults: &faults)
            if !faults.isEmpty { return ways }
        }
        guard isDone else { return ways }
        if world.life.atOnce >= ObserverState.many { faults.append("many are left: \(world)") }
        if world.life.isCancelled != (world.timesOver == 1) { faults.append("over \(world.timesOver): \(world)") }
        return 1
    }

    private func take(_ step: Step, of thread: Int, _ end: Int, _ world: inout World, _ faults: inout [String]) {
        world.next[thread] += 1
        switch step {
        case .begin:
            guard let begun = world.life.begunAtOnce else {
                world.next[thread] = end
                return
            }
            world.life = begun
            world.began += 1
            world.running += 1
            world.foundMany[thread] = begun.countsMany
        case .takeOff:
            guard world.foundMany[thread], let less = world.life.withoutMany else { return }
            world.life = less
            world.takenOff += ObserverState.many
        case .end:
            world.life = world.life.ended
            world.running -= 1
            if world.life.isOver { world.timesOver += 1 }
        case .cancel:
            world.life = world.life.cancelled
            if world.life.isOver { world.timesOver += 1 }
        }
        let counted = world.life.atOnce + world.takenOff - (ObserverState.many - 2)
        if counted != world.began { faults.append("counts \(counted) for \(world.began): \(world)") }
        if world.life.running != world.running { faults.append("runs wrong: \(world)") }
    }

    @Test("whoever finds many takes them off, once, in every order of the threads' steps and of a removal")
    func orders() {
        let handled: [Step] = [.begin, .takeOff, .end]
        for (threads, expected) in [
            ([handled, handled, handled], 1680), ([handled + handled, handled], 84),
            ([handled, handled, [.cancel]], 0),
        ] {
            var faults: [String] = []
            let world = World(
                life: Self.lives(atOnce: ObserverState.many - 2), next: threads.map { _ in 0 },
                foundMany: threads.map { _ in false })
            let ways = explore(threads, world, faults: &faults)
            #expect(faults == [])
            // All orders of the steps, if none is refused.
            #expect(expected == 0 ? ways > 20 : ways == expected)
        }
    }
}
