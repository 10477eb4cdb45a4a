import Testing

@testable import ThreadedNotifications

/// Every order in which the steps of a few threads can follow each other. A step is one exchange of the observer's word, as
/// `Registration` makes it.
@Suite("ObserverState")
struct ObserverStateTests {
    /// What a thread does, one step after the other.
    private enum Step {
        /// Begins a handler; if that is refused, what follows up to its `end` is passed over.
        case begin
        case end
        case cancel
        /// Says that it waits.
        case await
        /// Looks whether handlers run, other than this many of its own; if so, sleeps until one ends and looks again.
        case waitForOthers(own: Int)
    }

    private struct World {
        var life = ObserverState.registered
        var next: [Int]
        /// Whether the thread's last `begin` succeeded.
        var isInHandler: [Bool]
        /// Those that sleep, with the signals that each was given.
        var sleepers: [Int: Int] = [:]
        /// How many handlers run, counted independently.
        var running = 0
        var wasCancelled = false
        var timesOver = 0
        var cancellations = 0
    }

    /// - Returns: in how many ways it can go.
    private func explore(
        _ threads: [[Step]], _ world: World? = nil, faults: inout [String], atEnd: (World) -> [String] = { _ in [] }
    ) -> Int {
        let world =
            world
            ?? World(
                next: Array(repeating: 0, count: threads.count),
                isInHandler: Array(repeating: false, count: threads.count))
        var ways = 0
        var isDone = true
        for (thread, steps) in threads.enumerated() where world.next[thread] < steps.count {
            isDone = false
            if let signals = world.sleepers[thread], signals == 0 { continue }
            var after = world
            step(steps[world.next[thread]], of: thread, &after, &faults)
            ways += explore(threads, after, faults: &faults, atEnd: atEnd)
            if !faults.isEmpty { return ways }
        }
        if isDone {
            faults += atEnd(world)
            return 1
        }
        if ways == 0 { faults.append("somebody sleeps for ever: \(world)") }
        return ways
    }

    private func step(_ step: Step, of thread: Int, _ world: inout World, _ faults: inout [String]) {
        let old = world.life
        world.next[thread] += 1
        switch step {
        case .begin:
            world.isInHandler[thread] = old.begun != nil
            guard let begun = old.begun else {
                if !world.wasCancelled { faults.append("refused before it was removed: \(world)") }
                return
            }
            if world.wasCancelled { faults.append("begins after it was removed: \(world)") }
            world.life = begun
            world.running += 1
        case .end:
            guard world.isInHandler[thread] else { return }
            world.life = old.ended
            world.running -= 1
            if world.life.isOver { world.timesOver += 1 }
            if world.life.isAwaited { for sleeper in world.sleepers.keys { world.sleepers[sleeper]! += 1 } }
        case .cancel:
            world.life = old.cancelled
            world.wasCancelled = true
            if !old.isCancelled {
                world.cancellations += 1
                if world.life.isOver { world.timesOver += 1 }
            }
        case .await:
            world.life = old.awaited
            world.sleepers[thread] = 0
            // Awake as yet: it has signals of its own until it has looked.
            world.sleepers[thread]! += 1
        case .waitForOthers(let own):
            world.sleepers[thread]! -= 1
            if old.running > own { world.next[thread] -= 1 } else { world.sleepers[thread] = nil }
        }
        if world.life.running != world.running { faults.append("counts wrong: \(world)") }
        if world.life.isCancelled != world.wasCancelled { faults.append("forgets that it was removed: \(world)") }
        if world.life.isOver != (world.wasCancelled && world.running == 0) { faults.append("not over: \(world)") }
        if old.isAwaited && !world.life.isAwaited { faults.append("forgets that somebody waits: \(world)") }
    }

    @Test("after the removal nothing begins, and the last out is exactly one, in every order of two threads' handlers")
    func removal() {
        var faults: [String] = []
        let ways = explore(
            [[.begin, .end, .begin, .end], [.begin, .end, .begin, .end], [.cancel], [.cancel]], faults: &faults
        ) { world in
            var faults: [String] = []
            if !world.life.isOver { faults.append("not over at the end: \(world)") }
            if world.timesOver != 1 { faults.append("over \(world.timesOver) times: \(world)") }
            if world.cancellations != 1 { faults.append("\(world.cancellations) removals were the first: \(world)") }
            return faults
        }
        #expect(faults == [])
        // All orders of 4, 4, 1 and 1 steps.
        #expect(ways == 6_300)
    }

    @Test("who waits for the handlers sleeps until the last has returned, and never for ever")
    func waiting() {
        var faults: [String] = []
        let ways = explore(
            [
                [.begin, .end], [.begin, .end, .begin, .end],
                [.cancel, .await, .waitForOthers(own: 0)], [.cancel],
            ], faults: &faults
        ) { world in
            world.timesOver == 1 && world.life.isOver && world.life.isAwaited
                ? [] : ["over \(world.timesOver) times: \(world)"]
        }
        #expect(faults == [])
        #expect(ways > 1_000)
    }

    @Test("a handler that removes its own observer waits for the others only, and is the last out if they are gone")
    func removalInTheHandler() {
        var faults: [String] = []
        let ways = explore(
            [[.begin, .cancel, .await, .waitForOthers(own: 1), .end], [.begin, .end], [.begin, .end]],
            faults: &faults
        ) { world in
            let isRight = world.life.isOver && world.timesOver == 1
            return isRight ? [] : ["over \(world.timesOver) times: \(world)"]
        }
        #expect(faults == [])
        #expect(ways > 100)
    }

    @Test("what it remembers does not depend on the order of the changes")
    func fields() {
        for running in 0..<5 {
            var life = ObserverState.registered
            for _ in 0..<running { life = life.begun ?? life }
            #expect(life.running == running)
            #expect(!life.isCancelled && !life.isAwaited && !life.isOver)
            #expect(life.cancelled.awaited == life.awaited.cancelled)
            #expect(life.cancelled.cancelled == life.cancelled)
            #expect(life.awaited.awaited == life.awaited)
            #expect(life.awaited.running == running && life.awaited.isAwaited && !life.awaited.isCancelled)
            #expect(life.cancelled.running == running && !life.cancelled.isAwaited && life.cancelled.isCancelled)
            #expect(life.awaited.begun?.ended == life.awaited)
            #expect(life.awaited.cancelled.isOver == (running == 0))
        }
    }
}
