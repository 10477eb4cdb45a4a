import SharedTesting
import ThreadedNotifications

/// A program of observers with handlers that post, run the run loop, wait, perform, add and remove. Equal seeds make
/// equal programs.
struct RandomProgram: Sendable, CustomStringConvertible {
    /// The shapes that programs have.
    enum Shape: Sendable {
        /// Everything is on one thread, so its order is the same in every run.
        case oneThread
        /// Two threads post to each other.
        case twoThreads
        /// Four threads post, two others handle.
        case posters
        /// A handler or block calls `Thread.exit()`.
        case exit
    }

    indirect enum Action: Sendable {
        case post(Int)
        case postAndWait(Int)
        case run
        case perform(Order, on: Int, [Action])
        case add(Int)
        case remove(Int)
        case exit

        enum Order: Sendable { case now, later, andWait }
    }

    struct Observer: Sendable {
        var name: Int
        /// The index of its thread; nil: the posting thread.
        var thread: Int?
        var policy: SameThreadPolicy
        var transform: Transform?
        /// The actions of its handler in its first call, in its second and so on, then again from the first.
        var calls: [[Action]]
    }

    enum Transform: Sendable {
        case value
        /// The transform returns nil for every third post.
        case sometimesNil
        case posts(Int)
    }

    let seed: UInt64
    let shape: Shape
    /// The number of threads. The first is the one that runs the program.
    let threads: Int
    /// The observers that the program may add, and how many it adds at first.
    let observers: [Observer]
    let first: Int
    /// The first actions of each thread.
    let start: [[Action]]
    /// How many posts, blocks and additions there are at most, and how deep they are nested.
    let actions: Int
    let depth: Int
    /// The budget of a drain on the target threads.
    let budget: DrainBudget

    init(seed: UInt64, shape: Shape) {
        var maker = Maker(seed: seed, shape: shape)
        (self.seed, self.shape, threads) = (seed, shape, maker.threads)
        observers = (0..<maker.observers).map { _ in maker.observer() }
        start =
            switch shape {
            case .oneThread: [maker.some(2...6)]
            case .twoThreads, .exit: (0..<2).map { _ in maker.some(1...5) }
            case .posters: [[], [], []] + (0..<4).map { _ in maker.some(4...10) }
            }
        first = Int.random(in: 1...observers.count, using: &maker.random)
        actions = shape == .posters ? 120 : 40
        depth = maker.random.once(in: 8) ? 30 : 6
        budget =
            maker.random.once(in: 4) ? .deliveries(Int.random(in: 1...3, using: &maker.random)) : .unbounded
    }

    var description: String {
        let observers = observers.enumerated().map { "  observer \($0): \($1)" }
        let start = start.enumerated().map { "  thread \($0): \($1)" }
        return
            (["program \(shape) \(seed), \(first) observers at first, depth \(depth), budget \(budget):"] + observers
            + start)
            .joined(separator: "\n")
    }
}

private struct Maker {
    var random: SeededGenerator
    let threads: Int
    let observers: Int
    private let shape: RandomProgram.Shape
    private let names: Int
    private let runs: Bool
    private let waits: Bool
    private let changes: Bool
    private let transformsPost: Bool

    init(seed: UInt64, shape: RandomProgram.Shape) {
        random = SeededGenerator(seed: seed)
        self.shape = shape
        threads =
            switch shape {
            case .oneThread: 1
            case .twoThreads, .exit: 2
            case .posters: 7
            }
        names = Int.random(in: 1...3, using: &random)
        observers = Int.random(in: 1...6, using: &random)
        runs = !random.once(in: 3)
        waits = !random.once(in: 3)
        changes = random.once(in: 2)
        transformsPost = random.once(in: 6)
    }

    mutating func observer() -> RandomProgram.Observer {
        let target: ClosedRange<Int> =
            switch shape {
            case .oneThread: 0...0
            case .twoThreads: 0...1
            case .posters: 1...2
            case .exit: 1...1
            }
        let thread = random.once(in: 6) ? nil : Int.random(in: target, using: &random)
        let policies: [SameThreadPolicy] =
            thread == nil ? [.ordered, .atOnce] : [.ordered, .ordered, .ordered, .atOnce, .later]
        var transform: RandomProgram.Transform?
        if random.once(in: 3) {
            transform = random.once(in: 3) ? .sometimesNil : .value
            if transformsPost { transform = .posts(name()) }
        }
        let calls = (0..<Int.random(in: 1...3, using: &random)).map { _ in
            random.once(in: 3) ? [] : some(1...3)
        }
        return RandomProgram.Observer(
            name: name(), thread: thread, policy: policies.randomElement(using: &random) ?? .ordered,
            transform: transform, calls: calls)
    }

    private mutating func name() -> Int { Int.random(in: 0..<names, using: &random) }

    mutating func some(_ count: ClosedRange<Int>, depth: Int = 0) -> [RandomProgram.Action] {
        (0..<Int.random(in: count, using: &random)).map { _ in action(depth) }
    }

    private mutating func action(_ depth: Int) -> RandomProgram.Action {
        if shape == .exit, random.once(in: 8) { return .exit }
        switch Int.random(in: 0..<12, using: &random) {
        case 0, 1: return runs ? .run : .post(name())
        case 2: return waits ? .postAndWait(name()) : .post(name())
        case 3 where depth < 2:
            let targets = shape == .posters ? 1...2 : 0...(threads - 1)
            let thread = Int.random(in: targets, using: &random)
            let orders: [RandomProgram.Action.Order] = waits ? [.now, .later, .andWait] : [.now, .later]
            return .perform(orders.randomElement(using: &random) ?? .now, on: thread, some(0...2, depth: depth + 1))
        case 4 where changes: return .add(Int.random(in: 0..<observers, using: &random))
        case 5 where changes: return .remove(Int.random(in: 0..<observers, using: &random))
        default: return .post(name())
        }
    }
}
