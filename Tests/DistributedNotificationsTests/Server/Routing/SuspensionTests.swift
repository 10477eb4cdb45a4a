import SharedTesting
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// The rules of suspension, as a client of a server sees them. A trace is a line of steps:
///
///     s r    the client is suspended, and resumes    A  AB   a post of this name, to the observers of A
///     -2     its second observer is removed          A! A* A#  delivered immediately; 900; 3000 bytes
///
/// Its observers are written as behavior and name: `c:A h:A d:? i:B`. What the client receives is written as
/// `post→observers` and `gap(posts)`, between the steps `s` and `r`.
final class SuspensionTests: XCTestCase {
    private static let behaviors: [Character: SuspensionBehavior] = [
        "d": .drop, "c": .coalesce, "h": .hold, "i": .deliverImmediately,
    ]

    private func received(_ steps: String, by observers: String, from directory: ServerDirectory) throws -> String {
        let (client, poster) = (try RawPeer(directory), try RawPeer(directory))
        for (index, observer) in observers.split(separator: " ").enumerated() {
            try client.register(
                UInt32(index + 1), name: observer.last == "?" ? nil : String(observer.suffix(1)),
                behavior: Self.behaviors[observer.first!]!)
        }
        try client.synchronize()
        var (posts, received) = (0, [String]())
        for step in steps.split(separator: " ") {
            switch step.first! {
            case "s", "r":
                try client.setSuspended(step == "s")
                received.append(String(step))
            case "-": try client.frame(.unregister) { $0.integer(UInt32(step.dropFirst())!) }
            default:
                posts += 1
                let byteCount = step.hasSuffix("#") ? 3000 : step.hasSuffix("*") ? 900 : 8
                try poster.write(
                    RawPeer.post(
                        String(step.first!), number: posts, byteCount: byteCount, immediately: step.hasSuffix("!")))
                try poster.synchronize()
            }
            for case .frame(let kind, let payload) in try client.synchronize() {
                let shown = kind == .gap ? try Self.gap(payload) : try Self.notification(payload)
                // Nothing was lost: some were skipped as their observers asked for.
                if shown != "gap(0)" { received.append(shown) }
            }
        }
        return received.joined(separator: " ")
    }

    private static func notification(_ payload: [UInt8]) throws -> String {
        let delivered = try RawPeer.delivered(payload)
        return "\(delivered.number)→\(delivered.registrations.map { "\($0)" }.joined(separator: ","))"
    }

    private static func gap(_ payload: [UInt8]) throws -> String {
        let gap = try RawPeer.gap(payload)
        XCTAssertEqual(gap.cause, "held")
        return "gap(\(gap.count))"
    }

    /// - Parameter traces: the observers, the steps, and what is received.
    private func assertTraces(
        _ traces: [(String, String, String)], line: UInt = #line, _ limits: (inout ServerLimits) -> Void = { _ in }
    ) throws {
        let temporary = try TemporaryDirectory()
        let server = try ServerInThisProcess(temporary, limits)
        for (observers, steps, expected) in traces {
            XCTAssertEqual(
                try received(steps, by: observers, from: temporary.directory), expected, "\(observers), \(steps)",
                line: line)
        }
        withExtendedLifetime(server) {}
    }

    func testTheTableOfBehaviorsAndTheRules() throws {
        try assertTraces([
            ("h:H d:X", "s H X X r X", "s r 1→1 4→2"), ("h:H d:X", "s H X X! r X", "s 1→1 3→2 r 4→2"),
            ("h:H c:X", "s H X X r X", "s r 1→1 3→2 4→2"), ("h:H c:X", "s H X X! r X", "s 1→1 2→2 3→2 r 4→2"),
            ("h:H h:X", "s H X X r X", "s r 1→1 2→2 3→2 4→2"), ("h:H h:X", "s H X X! r X", "s 1→1 2→2 3→2 r 4→2"),
            ("h:H i:X", "s H X X r X", "s 1→1 2→2 3→2 r 4→2"), ("h:H i:X", "s H X X! r X", "s 1→1 2→2 3→2 r 4→2"),
            // R1, R2, R3: one resumption delivers what is held, in order, and an immediate delivery is none.
            ("h:A c:B", "s s A B! B A r", "s s 1→1 2→2 r 3→2 4→1"),
            // R4: a post for several observers is one entry, and is for all but drop if one must have it at once.
            ("c:A h:A d:A c:B d:B i:B", "s A B", "s 1→1,2 2→4,6"),
            // R5: a removed observer receives nothing that is held.
            ("h:A c:A", "s A -1 r A", "s r 1→2 2→2"), ("h:A", "s A -1 r", "s r"),
            // D1: an observer of any name coalesces each name.
            ("c:? h:B", "s A B A B C r", "s r 2→2 3→1 4→1,2 5→1"),
        ])
    }

    func testD2AtALimitTheOldestIsDiscardedAndTheNextFlushShowsTheGapOnce() throws {
        try assertTraces([
            ("h:A", "s A A A A A r s r", "s r gap(2) 3→1 4→1 5→1 s r"),
            ("h:A", "s A* A* A r", "s r gap(1) 2→1 3→1"), ("h:A h:B", "s A A A B r", "s r gap(1) 2→1 3→1 4→2"),
            // One that exceeds a limit alone is the only one discarded.
            ("c:A", "s A A# r", "s r gap(1) 1→1"), ("h:A", "s A# -1 r", "s r gap(1)"),
        ]) { ($0.heldEntriesPerClient, $0.heldBytesPerClient) = (3, 2000) }
    }

    func testD2WithThePolicyToDeliverAFullQueueIsFlushedAndTheNewPostIsHeld() throws {
        try assertTraces([("h:A", "s A A A A# A r", "s 1→1 2→1 3→1 4→1 r 5→1")]) {
            ($0.heldEntriesPerClient, $0.heldBytesPerClient, $0.heldOverflow) = (2, 2000, .deliver)
        }
    }

    // MARK: Random traces

    /// The rules without limits, with one queue for each observer.
    private struct Oracle {
        let observers: [(behavior: Character, name: Character)]
        var removed: Set<Int> = []
        var isSuspended = false
        var posts = 0
        var queues: [Int: [(post: Int, name: Character)]] = [:]

        mutating func step(_ step: Substring) -> [String] {
            let name = step.first!
            switch name {
            case "s", "r":
                isSuspended = name == "s"
                return [String(step)] + (isSuspended ? [] : flush())
            case "-":
                removed.insert(Int(step.dropFirst())!)
                queues[Int(step.dropFirst())!] = nil
                return []
            default:
                posts += 1
                let matching = (1...observers.count).filter {
                    !removed.contains($0) && ["?", name].contains(observers[$0 - 1].name)
                }
                let kept = matching.filter { observers[$0 - 1].behavior != "d" }
                if matching.isEmpty { return [] }
                if !isSuspended { return text(posts, matching) }
                if step.hasSuffix("!") { return flush() + text(posts, matching) }
                if kept.contains(where: { observers[$0 - 1].behavior == "i" }) { return flush() + text(posts, kept) }
                for number in kept {
                    if observers[number - 1].behavior == "c" { queues[number]?.removeAll { $0.name == name } }
                    queues[number, default: []].append((posts, name))
                }
                return []
            }
        }

        private func text(_ post: Int, _ numbers: [Int]) -> [String] {
            ["\(post)→\(numbers.map { "\($0)" }.joined(separator: ","))"]
        }

        private mutating func flush() -> [String] {
            let held = Set(queues.values.joined().map(\.post)).sorted().flatMap { post in
                text(post, queues.keys.sorted().filter { queues[$0]!.contains { $0.post == post } })
            }
            queues = [:]
            return held
        }
    }

    func testRandomTracesAgreeWithAnOracle() throws {
        var traces: [(String, String, String)] = []
        for seed in 0..<UInt64(FaultRounds.comparisons) {
            var random = SeededGenerator(seed: seed)
            let observers = (0..<5).map { _ in
                (seed % 4 == 0 ? "dchi" : "dch").randomElement(using: &random)!
            }.map { ($0, "AB?".randomElement(using: &random)!) }
            var oracle = Oracle(observers: observers)
            let steps = (0..<40).map { _ in
                if random.once(in: 4) { return ["s", "s", "r"].randomElement(using: &random)! }
                if random.once(in: 20) { return "-\(Int.random(in: 1...5, using: &random))" }
                return ["A", "B", "C"].randomElement(using: &random)! + (random.once(in: 20) ? "!" : "")
            }
            let expected = steps.flatMap { oracle.step($0[...]) }
            traces.append(
                (
                    observers.map { "\($0):\($1)" }.joined(separator: " "), steps.joined(separator: " "),
                    expected.joined(separator: " ")
                ))
        }
        try assertTraces(traces)
    }
}
