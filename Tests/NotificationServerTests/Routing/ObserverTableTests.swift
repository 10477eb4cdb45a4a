import SharedTesting
import Testing

@testable import DistributedNotifications
@testable import DistributedTesting
@testable import NotificationServer

@Suite("ObserverTable")
struct ObserverTableTests {
    // MARK: Matching

    @Test("a nil name or object of an observer matches any, and a post without object only a nil object")
    func wildcards() {
        var table = ObserverTable()
        let filters: [(name: String?, object: String?)] = [("A", "o"), ("A", nil), (nil, "o"), (nil, nil)]
        for (number, filter) in filters.enumerated() {
            _ = table.register(1, UInt32(number), filter.name, filter.object)
        }
        #expect(table.registrations(for: "A", "o") == [0, 1, 2, 3])
        #expect(table.registrations(for: "A", nil) == [1, 3])
        #expect(table.registrations(for: "A", "p") == [1, 3])
        #expect(table.registrations(for: "B", "o") == [2, 3])
        #expect(table.registrations(for: "B", nil) == [3])
    }

    @Test("an empty object is an object")
    func emptyObject() {
        var table = ObserverTable()
        _ = table.register(1, 1, "A", "")
        #expect(table.registrations(for: "A", nil) == [])
        #expect(table.registrations(for: "A", "") == [1])
    }

    @Test("names are compared by their bytes")
    func bytes() {
        var table = ObserverTable()
        _ = table.register(1, 1, "\u{E9}", nil)
        #expect(table.registrations(for: "e\u{301}", nil) == [])
        #expect(table.registrations(for: "\u{E9}", nil) == [1])
    }

    @Test("clients come in the order of their numbers, and what one registered in the order in which it did")
    func order() {
        var table = ObserverTable()
        _ = table.register(2, 7, nil, nil)
        _ = table.register(1, 9, "A", "o")
        _ = table.register(2, 5, "A", nil)
        _ = table.register(1, 3, nil, "o")
        _ = table.register(2, 6, nil, nil)
        let matches = table.matches("A", "o")
        #expect(matches.map(\.client) == [1, 2])
        #expect(matches.map { $0.observers.map(\.registration) } == [[9, 3], [7, 5, 6]])
    }

    // MARK: Changes

    @Test("a number that is in use is refused, and nothing changes")
    func numberInUse() {
        var table = ObserverTable()
        let isFirstTaken = table.register(1, 1, "A", nil)
        let version = table.version
        let isSecondTaken = table.register(1, 1, "B", nil)
        #expect(isFirstTaken && !isSecondTaken)
        #expect(table.version == version)
        #expect(table.registrations(for: "B", nil) == [])
        let isOthersTaken = table.register(2, 1, "B", nil)
        #expect(isOthersTaken)
    }

    @Test("what is not there cannot be removed, and nothing changes")
    func removingNothing() {
        var table = ObserverTable()
        _ = table.register(1, 1, "A", nil)
        let version = table.version
        let isRemoved = table.unregister(client: 1, registration: 2)
        table.removeClient(2)
        #expect(!isRemoved)
        #expect(table.version == version)
    }

    // MARK: Against a list

    @Test("it does what a list does, in random operations", arguments: 0..<10 as Range<UInt64>)
    func againstAList(part: UInt64) {
        for seed in part * 8..<part * 8 + 8 {
            guard let difference = Self.difference(seed: seed, length: 200) else { continue }
            Issue.record("seed \(seed): \(difference)")
            return
        }
    }

    /// - Returns: where the two first differ.
    private static func difference(seed: UInt64, length: Int) -> String? {
        var random = SeededGenerator(seed: seed)
        var table = ObserverTable()
        var list = NaiveObserverTable()
        // Few of each, so that many match.
        let names: [String?] = [nil, "A", "B", "C"]
        let objects: [String?] = [nil, "", "o", "p"]
        let clients = 1...[1, 3, 8].randomElement(using: &random)!
        for step in 0..<length {
            let client = Int.random(in: clients, using: &random)
            let registration = UInt32.random(in: 0..<40, using: &random)
            let (name, object) = (names.randomElement(using: &random)!, objects.randomElement(using: &random)!)
            let version = table.version
            let (isChanged, expected): (Bool, Bool)
            switch Int.random(in: 0..<20, using: &random) {
            case 0:
                table.removeClient(client)
                expected = list.removeClient(client)
                isChanged = expected
            case 1...6:
                isChanged = table.unregister(client: client, registration: registration)
                expected = list.unregister(client: client, registration: registration)
            default:
                let behavior = SuspensionBehavior.allCases.randomElement(using: &random)!
                isChanged = table.register(client, registration, name, object, behavior)
                expected = list.register(
                    client: client, registration: registration, name: name, object: object, behavior: behavior)
            }
            guard isChanged == expected else { return "step \(step) answered \(isChanged)" }
            guard (table.version != version) == expected else { return "step \(step): version \(version)" }
            let posted = (name: ["A", "B", "D"].randomElement(using: &random)!, object: objects[step % objects.count])
            guard table.matches(posted.name, posted.object) == list.matches(name: posted.name, object: posted.object)
            else { return "step \(step): \(posted): \(table.matches(posted.name, posted.object))" }
            for client in clients {
                let registrations = list.registrations(of: client)
                guard table.registrations(of: client) == registrations, table.count(of: client) == registrations.count
                else { return "step \(step): client \(client) has \(table.registrations(of: client))" }
            }
        }
        return nil
    }
}

extension ObserverTable {
    fileprivate mutating func register(
        _ client: Int, _ registration: UInt32, _ name: String?, _ object: String?,
        _ behavior: SuspensionBehavior = .hold
    ) -> Bool {
        register(
            client: client, registration: registration, name: name.map { ByteString($0) },
            object: object.map { ByteString($0) }, behavior: behavior)
    }

    fileprivate func matches(_ name: String, _ object: String?) -> [Match] {
        let name = Array(name.utf8)
        guard let object else { return name.withUnsafeBytes { matches(name: $0, object: nil) } }
        return name.withUnsafeBytes { name in
            Array(object.utf8).withUnsafeBytes { matches(name: name, object: $0) }
        }
    }

    /// Those of the only client that is registered.
    fileprivate func registrations(for name: String, _ object: String?) -> [UInt32] {
        matches(name, object).flatMap { $0.observers.map(\.registration) }
    }
}
