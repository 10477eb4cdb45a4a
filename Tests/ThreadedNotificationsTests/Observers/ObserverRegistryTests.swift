import SharedTesting
import XCTest

@testable import ThreadedNotifications

final class ObserverRegistryTests: XCTestCase {
    private typealias Registry = ObserverRegistry<Int>
    private typealias Key = Registry.Key

    /// All observers in one array, in the order in which they were added.
    private struct NaiveRegistry {
        var observers: [(id: ObserverID, key: Key, observer: Int)] = []

        func matching(name: String, objectHash: Int?, names: Registry.NameScope) -> [Int] {
            observers.filter { one in
                let isInScope =
                    switch names {
                    case .all: true
                    case .named: one.key.name != nil
                    case .any: one.key.name == nil
                    }
                return isInScope && (one.key.name == nil || one.key.name == name)
                    && (one.key.objectHash == nil || one.key.objectHash == objectHash)
            }
            .map(\.observer)
        }
    }

    private static let names: [String?] = ["a", "b", nil]
    private static let hashes: [Int?] = [nil, 1, 2]
    private static let keys: [Key] = names.flatMap { name in hashes.map { Key(name: name, objectHash: $0) } }

    func testItFindsTheSameObserversAsASearchOfOneArrayInTheOrderInWhichTheyWereAdded() throws {
        for seed in 0..<TestRounds.rounds(6, stress: 60) as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            // With few keys, each has many observers.
            let keys = Array(Self.keys.shuffled(using: &random).prefix(Int.random(in: 1...9, using: &random)))
            let additions = Int.random(in: 30...70, using: &random)
            var registry = Registry()
            var naive = NaiveRegistry()
            var removed: [(id: ObserverID, key: Key)] = []
            var id: ObserverID = 0
            for step in 0..<400 {
                switch Int.random(in: 0..<110, using: &random) {
                case 0..<additions:
                    id += UInt64.random(in: 1...3, using: &random)
                    let key = keys.randomElement(using: &random)!
                    naive.observers.append((id, key, step))
                    let toCheck = registry.add(step, id: id, key: key)
                    if !toCheck.isEmpty {
                        try require(toCheck.sorted() == naive.observers.map(\.observer).sorted())
                    }
                case 100..<105:
                    guard let (id, key) = removed.randomElement(using: &random) else { continue }
                    let again = registry.remove(id: id, key: key)
                    try require(again == nil)
                case 105..<110:
                    guard let (id, key, _) = naive.observers.randomElement(using: &random) else { continue }
                    let other = registry.remove(id: id, key: Key(name: "other", objectHash: key.objectHash))
                    try require(other == nil)
                    let unknown = registry.remove(id: id + 1_000, key: key)
                    try require(unknown == nil)
                default:
                    guard let index = naive.observers.indices.randomElement(using: &random) else { continue }
                    let (id, key, observer) = naive.observers.remove(at: index)
                    let found = registry.remove(id: id, key: key)
                    try require(found == observer)
                    removed.append((id, key))
                }
                try require(registry.count == naive.observers.count)
                let (name, hash) = (
                    ["a", "b", "c"].randomElement(using: &random)!, [nil, 1, 2, 3].randomElement(using: &random)!
                )
                for scope in [Registry.NameScope.all, .named, .any] {
                    let found = registry.observers(matching: name, objectHash: hash, names: scope)
                    try require(found == naive.matching(name: name, objectHash: hash, names: scope))
                }
                let all = registry.observers(matching: name, objectHash: hash)
                try require(all == naive.matching(name: name, objectHash: hash, names: .all))
            }
            for (id, key, observer) in naive.observers {
                let found = registry.remove(id: id, key: key)
                try require(found == observer)
            }
            XCTAssertEqual(registry.count, 0)
            let left = registry.observers(matching: "a", objectHash: 1)
            XCTAssertTrue(left.isEmpty)
        }
    }
}
