import SharedTesting
import XCTest

@testable import ThreadedNotifications

final class WaitGraphTests: XCTestCase {
    private enum Target: Hashable {
        case thread(Int)
        case observer(ObserverID)

        /// As the graph has it: a delivery on the thread, to an observer that only the thread has.
        var target: WaitGraph.Target {
            switch self {
            case .thread(let number):
                WaitGraph.Target(kind: .delivery, observer: observer, thread: Self.identity(number))
            case .observer: WaitGraph.Target(kind: .handlers, observer: observer)
            }
        }

        var observer: ObserverID {
            switch self {
            case .thread(let number): 100 + ObserverID(number)
            case .observer(let id): id
            }
        }

        static func identity(_ number: Int) -> ThreadIdentity {
            ThreadIdentity(number: number, name: nil, kernelID: Int32(number))
        }
    }

    /// A wait graph beside a list of waits in which cycles are found by their definition.
    private struct Compared {
        struct Naive {
            var number: Int
            var id: WaitGraph.WaitID?
            var thread: Int
            var handlers: [ObserverID]
            var targets: [Target]

            func waits(for other: Naive) -> Bool {
                targets.contains { target in
                    switch target {
                    case .thread(let number): other.thread == number
                    case .observer(let id): other.thread != thread && other.handlers.contains(id)
                    }
                }
            }
        }

        private var graph = WaitGraph()
        private(set) var waits: [Naive] = []
        private var begun: [Naive] = []
        private(set) var refused = 0

        /// - Returns: whether it was accepted.
        @discardableResult
        mutating func begin(_ thread: Int, in handlers: [ObserverID] = [], for targets: [Target]) throws -> Bool {
            var naive = Naive(number: begun.count, id: nil, thread: thread, handlers: handlers, targets: targets)
            let result = graph.begin(
                WaitGraph.Wait(
                    thread: Target.identity(thread), handlersUnderWay: handlers, targets: targets.map(\.target),
                    notification: nil, location: SourceLocation("file", begun.count), semaphore: MonotonicSemaphore()))
            begun.append(naive)
            switch result {
            case .success(let id):
                try require(!waits.contains { $0.id == id }, "an id is used again")
                naive.id = id
                waits.append(naive)
                try require(!Self.isCyclic(waits), "a cycle was accepted: \(waits)")
                return true
            case .failure(let error) where error.code == .waitWouldDeadlock:
                let cycle = error.waits
                refused += 1
                try require(Self.isCyclic(waits + [naive]), "refused without a cycle: \(naive) after \(waits)")
                let named = cycle.map { begun[$0.line] }
                try require(named.first?.number == naive.number, "the cycle does not begin with the refused wait")
                try require(Set(named.map(\.number)).count == named.count)
                // The waits' current targets, without completed ones.
                let current = named.map { one in waits.first { $0.number == one.number } ?? one }
                for (one, next) in zip(current, current.dropFirst() + current.prefix(1)) {
                    try require(one.waits(for: next), "\(one) is said to wait for \(next)")
                }
                for one in named.dropFirst() { try require(waits.contains { $0.number == one.number }) }
                return false
            case .failure(let error):
                throw error
            }
        }

        mutating func complete(_ target: Target, of index: Int) {
            let isLast = graph.resolve(target.observer, .delivered, of: waits[index].id ?? 0)
            guard let first = waits[index].targets.firstIndex(of: target) else { return XCTAssertFalse(isLast) }
            waits[index].targets.remove(at: first)
            XCTAssertEqual(isLast, waits[index].targets.isEmpty)
        }

        mutating func end(_ index: Int) throws {
            let id = waits.remove(at: index).id ?? 0
            graph.end(id)
            try require(graph.isEmpty == waits.isEmpty)
            // Ending again, or completing an ended wait, has no effect.
            if id % 2 == 0 {
                graph.end(id)
                XCTAssertFalse(graph.resolve(101, .delivered, of: id))
            }
        }

        /// A wait reaches itself in the transitive closure (Warshall's algorithm).
        private static func isCyclic(_ waits: [Naive]) -> Bool {
            var reaches = waits.map { one in waits.map(one.waits) }
            for middle in waits.indices {
                for from in waits.indices where reaches[from][middle] {
                    for to in waits.indices where reaches[middle][to] { reaches[from][to] = true }
                }
            }
            return waits.indices.contains { reaches[$0][$0] }
        }
    }

    func testExactlyTheWaitsThatCloseACycleAreRefusedInRandomSequences() throws {
        for seed in 0..<TestRounds.rounds(20, stress: 100) as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let threads = Int.random(in: 2...8, using: &random)
            let observers = UInt64.random(in: 1...4, using: &random)
            var compared = Compared()
            for _ in 0..<60 {
                switch Int.random(in: 0..<10, using: &random) {
                case 0..<6 where compared.waits.count < 10:
                    let targets = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                        random.once(in: 3)
                            ? Target.observer(.random(in: 1...observers, using: &random))
                            : .thread(.random(in: 1...threads, using: &random))
                    }
                    let handlers = (0..<Int.random(in: 0...2, using: &random)).map { _ in
                        UInt64.random(in: 1...observers, using: &random)
                    }
                    try compared.begin(.random(in: 1...threads, using: &random), in: handlers, for: targets)
                case 6..<8:
                    guard let index = compared.waits.indices.randomElement(using: &random) else { continue }
                    let target =
                        random.once(in: 8) ? .thread(99) : compared.waits[index].targets.randomElement(using: &random)
                    if let target { compared.complete(target, of: index) }
                default:
                    guard let index = compared.waits.indices.randomElement(using: &random) else { continue }
                    try compared.end(index)
                }
            }
            while !compared.waits.isEmpty { try compared.end(0) }
        }
    }
}
