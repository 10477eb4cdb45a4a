import SharedTesting
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

private struct Line {
    var client: Int
    var name: String?
    var object: String?
    var observer: MatchingObserver
}

final class ObserverTableTests: XCTestCase {
    func testANilNameOrObjectOfAnObserverMatchesAnyAndAPostWithoutAnObjectMatchesNilObjectsOnly() {
        var table = ObserverTable()
        let filters: [(name: String?, object: String?)] = [("A", "o"), ("A", nil), (nil, "o"), (nil, nil), ("A", "")]
        for (number, filter) in filters.enumerated() {
            table.register(1, UInt32(number), filter.name, filter.object)
        }
        for (name, object, expected) in [
            ("A", "o", [0, 1, 2, 3]), ("A", nil, [1, 3]), ("A", "p", [1, 3]), ("B", "o", [2, 3]), ("B", nil, [3]),
            ("A", "", [1, 3, 4]),
        ] as [(String, String?, [UInt32])] {
            XCTAssertEqual(table.matches(name, object).flatMap { $0.observers.map(\.registration) }, expected)
        }
    }

    func testNamesAreComparedByTheirBytes() {
        var table = ObserverTable()
        table.register(1, 1, "\u{E9}", nil)
        XCTAssertEqual(table.matches("e\u{301}", nil), [])
        XCTAssertEqual(table.matches("\u{E9}", nil).count, 1)
    }

    func testClientsAreInTheOrderOfTheirNumbersAndTheirObserversInTheOrderAdded() {
        var table = ObserverTable()
        table.register(2, 7, nil, nil)
        table.register(1, 9, "A", "o")
        table.register(2, 5, "A", nil)
        table.register(1, 3, nil, "o")
        table.register(2, 6, nil, nil)
        let matches = table.matches("A", "o")
        XCTAssertEqual(matches.map(\.client), [1, 2])
        XCTAssertEqual(matches.map { $0.observers.map(\.registration) }, [[9, 3], [7, 5, 6]])
    }

    func testItAgreesWithAListInRandomOperations() {
        for seed in 0..<UInt64(TestRounds.rounds(12, stress: 80)) {
            guard let difference = Self.difference(seed: seed) else { continue }
            return XCTFail("seed \(seed): \(difference)")
        }
    }

    /// The matches in a list of all observers in the order added, which is looked through from end to end.
    private static func matches(_ list: [Line], _ name: String, _ object: String?) -> [ObserverTable.Match] {
        let found = list.filter { ($0.name == nil || $0.name == name) && ($0.object == nil || $0.object == object) }
        return Set(found.map(\.client)).sorted().map { client in
            ObserverTable.Match(client: client, observers: found.filter { $0.client == client }.map(\.observer))
        }
    }

    /// - Returns: where the two first differ.
    private static func difference(seed: UInt64) -> String? {
        var random = SeededGenerator(seed: seed)
        var (table, list) = (ObserverTable(), [Line]())
        var observers: [Int: [UInt32: ObserverTable.Observer]] = [:]
        // Few of each, so that many match.
        let objects: [String?] = [nil, "", "o", "p"]
        let clients = 1...[1, 3, 8].randomElement(using: &random)!
        for step in 0..<200 {
            let client = Int.random(in: clients, using: &random)
            let number = UInt32.random(in: 0..<40, using: &random)
            let (count, version, known) = (list.count, table.version, observers[client]?[number])
            switch Int.random(in: 0..<20, using: &random) {
            case 0:
                let all = observers.removeValue(forKey: client) ?? [:]
                table.remove(all.values, of: client)
                list.removeAll { $0.client == client }
            case 1...6:
                guard let known else { continue }
                table.remove(known)
                observers[client]?[number] = nil
                list.removeAll { $0.client == client && $0.observer.registration == number }
            default:
                guard known == nil else { continue }
                let line = Line(
                    client: client, name: [nil, "A", "B", "C"].randomElement(using: &random)!,
                    object: objects.randomElement(using: &random)!,
                    observer: MatchingObserver(
                        registration: number, behavior: SuspensionBehavior.allCases.randomElement(using: &random)!))
                observers[client, default: [:]][number] = table.add(line)
                list.append(line)
            }
            let (name, object) = (["A", "B", "D"].randomElement(using: &random)!, objects[step % objects.count])
            guard table.matches(name, object) == Self.matches(list, name, object) else {
                return "step \(step): \(name)"
            }
            guard (table.version != version) == (list.count != count) else { return "step \(step): \(table.version)" }
        }
        return nil
    }
}

extension ObserverTable {
    fileprivate mutating func add(_ line: Line) -> Observer {
        let filter = withBytes(line.name, line.object) { NameAndObject(name: $0, object: $1) }
        return add(Observer(client: line.client, filter: filter, matching: line.observer))
    }

    fileprivate mutating func register(_ client: Int, _ number: UInt32, _ name: String?, _ object: String?) {
        _ = add(
            Line(client: client, name: name, object: object, observer: .init(registration: number, behavior: .hold)))
    }

    fileprivate func matches(_ name: String, _ object: String?) -> [Match] {
        withBytes(name, object) { matches(name: $0!, object: $1) }
    }

    private func withBytes<Result>(
        _ name: String?, _ object: String?, _ body: (UnsafeRawBufferPointer?, UnsafeRawBufferPointer?) -> Result
    ) -> Result {
        Array((name ?? "").utf8).withUnsafeBytes { bytes in
            Array((object ?? "").utf8).withUnsafeBytes { body(name == nil ? nil : bytes, object == nil ? nil : $0) }
        }
    }
}
