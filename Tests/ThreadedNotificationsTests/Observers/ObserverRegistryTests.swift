import Testing

@testable import ThreadedNotifications

@Suite("ObserverRegistry")
struct ObserverRegistryTests {
    private typealias Registry = ObserverRegistry<Int>
    private typealias Key = Registry.Key

    /// An array of all observers in the order of adding, that is looked through from end to end.
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

    private static func sorted(_ lists: [[Int?]]) -> [Int] { lists.flatMap { $0.compactMap(\.self) }.sorted() }

    private static let names: [String?] = ["a", "b", nil]
    private static let hashes: [Int?] = [nil, 1, 2]
    private static let keys: [Key] = names.flatMap { name in hashes.map { Key(name: name, objectHash: $0) } }

    @Test("it finds whom a list of all finds, in the order of adding", arguments: 0..<60 as Range<UInt64>)
    func againstAnArray(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        // Few keys leave many of one, and all the combinations of names and objects come up.
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
                let offered = registry.add(step, id: id, key: key)
                if !offered.isEmpty { try #require(Self.sorted(offered) == naive.observers.map(\.observer).sorted()) }
            case 100..<105:
                guard let (id, key) = removed.randomElement(using: &random) else { continue }
                let again = registry.remove(id: id, key: key)
                try #require(again == nil)
            case 105..<110:
                guard let (id, key, _) = naive.observers.randomElement(using: &random) else { continue }
                let other = registry.remove(id: id, key: Key(name: "other", objectHash: key.objectHash))
                try #require(other == nil)
                let unknown = registry.remove(id: id + 1_000, key: key)
                try #require(unknown == nil)
            default:
                guard let index = naive.observers.indices.randomElement(using: &random) else { continue }
                let (id, key, observer) = naive.observers.remove(at: index)
                let found = registry.remove(id: id, key: key)
                try #require(found == observer)
                removed.append((id, key))
            }
            try #require(registry.count == naive.observers.count)
            let (name, hash) = (
                ["a", "b", "c"].randomElement(using: &random)!, [nil, 1, 2, 3].randomElement(using: &random)!
            )
            for scope in [Registry.NameScope.all, .named, .any] {
                let found = registry.observers(matching: name, objectHash: hash, names: scope).compactMap(\.self)
                try #require(found == naive.matching(name: name, objectHash: hash, names: scope))
            }
            let all = registry.observers(matching: name, objectHash: hash).compactMap(\.self)
            try #require(all == naive.matching(name: name, objectHash: hash, names: .all))
        }
        for (id, key, observer) in naive.observers {
            let found = registry.remove(id: id, key: key)
            try #require(found == observer)
        }
        #expect(registry.count == 0)
        let left = registry.observers(matching: "a", objectHash: 1)
        #expect(left.isEmpty)
    }

    @Test("no change is made in storage that a lookup returned, and lookups without a change return the same storage")
    func storage() {
        func storage(_ observers: [Int?]) -> UnsafeRawPointer? {
            observers.withUnsafeBytes { UnsafeRawPointer($0.baseAddress) }
        }
        let key = Key(name: "a", objectHash: nil)
        var registry = Registry()
        for id in 1...10 { _ = registry.add(id, id: ObserverID(id), key: key) }
        let first = storage(registry.observers(matching: "a", objectHash: nil))
        _ = registry.remove(id: 5, key: key)
        let afterRemoval = storage(registry.observers(matching: "a", objectHash: nil))
        #expect(afterRemoval != first)
        _ = registry.add(11, id: 11, key: key)
        let afterAdding = storage(registry.observers(matching: "a", objectHash: nil))
        #expect(afterAdding != afterRemoval)
        let unchanged = storage(registry.observers(matching: "a", objectHash: nil))
        #expect(unchanged == afterAdding)
    }

    @Test("each scope asks those of that scope only: of the name, of any name, of an object, of any object")
    func scopes() {
        var registry = Registry()
        // Observer 0 asks for (a, nil), 1 for (a, 1), 2 for (a, 2), 3 for (b, nil) … 8 for (nil, 2); added last first.
        for (id, observer) in Self.keys.indices.reversed().enumerated() {
            _ = registry.add(observer, id: ObserverID(id + 1), key: Self.keys[observer])
        }
        func found(_ name: String, _ hash: Int?, _ names: Registry.NameScope) -> [Int?] {
            registry.observers(matching: name, objectHash: hash, names: names)
        }
        #expect(found("a", 1, .all) == [7, 6, 1, 0])
        #expect(found("a", 1, .named) == [1, 0])
        #expect(found("a", 1, .any) == [7, 6])
        #expect(found("b", nil, .all) == [6, 3])
        #expect(found("b", nil, .named) == [3])
        #expect(found("b", nil, .any) == [6])
        #expect(found("c", 3, .all) == [6])
        #expect(found("c", 3, .named) == [])
    }

    @Test("gaps are nil where one was removed, and never more than those who are left")
    func gaps() {
        var registry = Registry()
        let key = Key(name: "a", objectHash: nil)
        for id in 1...100 { _ = registry.add(id, id: ObserverID(id), key: key) }
        let first = registry.remove(id: 50, key: key)
        #expect(first == 50)
        let withGap = registry.observers(matching: "a", objectHash: nil)
        #expect(withGap == (1...100).map { $0 == 50 ? nil : $0 })
        var left = Array(1...100).filter { $0 != 50 }
        var random = SeededGenerator(seed: 1)
        while left.count > 1 {
            let id = left.remove(at: Int.random(in: 0..<left.count, using: &random))
            let removed = registry.remove(id: ObserverID(id), key: key)
            #expect(removed == id)
            let slots = registry.observers(matching: "a", objectHash: nil)
            #expect(slots.compactMap(\.self) == left)
            #expect(slots.count <= max(16, 2 * left.count))
        }
    }

    @Test("two that are added at the same time may come in either order, and are found and removed")
    func inEitherOrder() {
        var registry = Registry()
        let key = Key(name: "a", objectHash: nil)
        for id: ObserverID in [1, 4, 3, 6, 2, 5] { _ = registry.add(Int(id), id: id, key: key) }
        let found = registry.observers(matching: "a", objectHash: nil)
        #expect(found == [1, 2, 3, 4, 5, 6])
        for id: ObserverID in 1...6 {
            let removed = registry.remove(id: id, key: key)
            #expect(removed == Int(id))
        }
        #expect(registry.count == 0)
    }

    @Test("now and then an addition offers all, and all offers together are as long as all additions")
    func offers() {
        for (seed, removals) in [0, 30, 49, 50].enumerated() {
            var random = SeededGenerator(seed: UInt64(seed))
            var registry = Registry()
            var live: [Int] = []
            var (offered, offers, sinceOffer, additions, id) = (0, 0, 0, 0, 0)
            while additions < 20_000 {
                if Int.random(in: 0..<100, using: &random) < removals {
                    guard !live.isEmpty else { continue }
                    let id = live.remove(at: Int.random(in: 0..<live.count, using: &random))
                    _ = registry.remove(id: ObserverID(id), key: Self.keys[id % Self.keys.count])
                    continue
                }
                id += 1
                additions += 1
                live.append(id)
                sinceOffer += 1
                let all = registry.add(id, id: ObserverID(id), key: Self.keys[id % Self.keys.count])
                offered += all.reduce(0) { $0 + $1.count }
                if !all.isEmpty {
                    offers += 1
                    sinceOffer = 0
                    #expect(Self.sorted(all) == live.sorted())
                }
                if removals == 0, sinceOffer > max(16, live.count / 2) {
                    Issue.record("\(sinceOffer) were added to \(live.count) and nothing was offered")
                }
            }
            #expect(offered <= 4 * additions)
            #expect(offers > 0 || removals == 50)
        }
    }

    @Test("an addition after most were removed offers again as soon as there are twice as many")
    func offersAfterRemoval() {
        var registry = Registry()
        let key = Key(name: "a", objectHash: 7)
        for id in 1...1_000 { _ = registry.add(id, id: ObserverID(id), key: key) }
        for id in 1...980 { _ = registry.remove(id: ObserverID(id), key: key) }
        var next = 1_001
        while registry.add(next, id: ObserverID(next), key: key).isEmpty, next < 3_000 { next += 1 }
        #expect(registry.count <= 2 * 21)
    }
}
