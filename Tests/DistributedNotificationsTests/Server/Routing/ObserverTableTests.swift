import SharedTesting
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

final class ObserverTableTests: XCTestCase {
    // MARK: Matching

    func testANilNameOrObjectOfAnObserverMatchesAnyAndAPostWithoutAnObjectMatchesNilObjectsOnly() {
        var table = ObserverTable()
        let filters: [(name: String?, object: String?)] = [("A", "o"), ("A", nil), (nil, "o"), (nil, nil)]
        for (number, filter) in filters.enumerated() {
            _ = table.register(1, UInt32(number), filter.name, filter.object)
        }
        XCTAssertEqual(table.registrations(for: "A", "o"), [0, 1, 2, 3])
        XCTAssertEqual(table.registrations(for: "A", nil), [1, 3])
        XCTAssertEqual(table.registrations(for: "A", "p"), [1, 3])
        XCTAssertEqual(table.registrations(for: "B", "o"), [2, 3])
        XCTAssertEqual(table.registrations(for: "B", nil), [3])
    }

    func testAnEmptyObjectIsAnObject() {
        var table = ObserverTable()
        _ = table.register(1, 1, "A", "")
        XCTAssertEqual(table.registrations(for: "A", nil), [])
        XCTAssertEqual(table.registrations(for: "A", ""), [1])
    }

    func testNamesAreComparedByTheirBytes() {
        var table = ObserverTable()
        _ = table.register(1, 1, "\u{E9}", nil)
        XCTAssertEqual(table.registrations(for: "e\u{301}", nil), [])
        XCTAssertEqual(table.registrations(for: "\u{E9}", nil), [1])
    }

    func testClientsAreInTheOrderOfTheirNumbersAndTheirRegistrationsInTheOrderAdded() {
        var table = ObserverTable()
        _ = table.register(2, 7, nil, nil)
        _ = table.register(1, 9, "A", "o")
        _ = table.register(2, 5, "A", nil)
        _ = table.register(1, 3, nil, "o")
        _ = table.register(2, 6, nil, nil)
        let matches = table.matches("A", "o")
        XCTAssertEqual(matches.map(\.client), [1, 2])
        XCTAssertEqual(matches.map { $0.observers.map(\.registration) }, [[9, 3], [7, 5, 6]])
    }

    // MARK: Changes

    func testANumberThatIsInUseIsRefusedAndNothingChanges() {
        var table = ObserverTable()
        let isFirstTaken = table.register(1, 1, "A", nil)
        let version = table.version
        let isSecondTaken = table.register(1, 1, "B", nil)
        XCTAssertTrue(isFirstTaken && !isSecondTaken)
        XCTAssertEqual(table.version, version)
        XCTAssertEqual(table.registrations(for: "B", nil), [])
        let isOthersTaken = table.register(2, 1, "B", nil)
        XCTAssertTrue(isOthersTaken)
    }

    func testRemovingAnUnknownRegistrationChangesNothing() {
        var table = ObserverTable()
        _ = table.register(1, 1, "A", nil)
        let version = table.version
        let isRemoved = table.unregister(client: 1, registration: 2)
        table.removeClient(2)
        XCTAssertFalse(isRemoved)
        XCTAssertEqual(table.version, version)
    }

    // MARK: Against a list

    func testItBehavesLikeAListInRandomOperations() {
        for seed in 0..<TestRounds.rounds(12, stress: 80) as Range<UInt64> {
            guard let difference = Self.difference(seed: seed, length: 200) else { continue }
            XCTFail("seed \(seed): \(difference)")
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
