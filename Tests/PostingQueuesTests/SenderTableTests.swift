import SharedTesting
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

final class SenderTableTests: XCTestCase {
    private typealias Table = SenderTable<String>

    private struct Refused: Error {}

    /// Asks for the candidates, compares and uses, as a single thread does.
    private func use(_ value: String, hash: Int = 0, in table: inout Table) throws -> UInt64 {
        let candidates = table.candidates(hash: hash)
        let same = candidates.first { $0.value == value }?.number
        guard let number = table.use(value, hash: hash, same: same, of: candidates.map(\.number)) else {
            throw Refused()
        }
        return number
    }

    func testEqualValuesHaveTheSameNumberDifferentValuesDifferentOnesAlsoWithTheSameHash() throws {
        var table = Table()
        let one = try use("one", in: &table)
        let other = try use("other", in: &table)
        let elsewhere = try use("elsewhere", hash: 1, in: &table)
        XCTAssertEqual(Set([one, other, elsewhere]).count, 3)
        let again = try use("one", in: &table)
        XCTAssertEqual(again, one)
        let candidates = table.candidates(hash: 0)
        XCTAssertEqual(candidates.map(\.number), [one, other])
        XCTAssertEqual(candidates.map(\.value), ["one", "other"])
        XCTAssertEqual(table.candidates(hash: 1).map(\.value), ["elsewhere"])
        XCTAssertTrue(table.candidates(hash: 2).isEmpty)
    }

    func testOnlyTheLastReleaseReturnsTheValue() throws {
        var table = Table()
        let number = try use("one", in: &table)
        let other = try use("other", in: &table)
        for _ in 0..<2 { _ = try use("one", in: &table) }
        let released = (0..<4).map { _ in table.release(number) }
        XCTAssertEqual(released, [nil, nil, "one", nil])
        XCTAssertEqual(table.candidates(hash: 0).map(\.number), [other])
        XCTAssertFalse(table.isEmpty)
        let last = table.release(other)
        XCTAssertEqual(last, "other")
        XCTAssertTrue(table.isEmpty)
        XCTAssertTrue(table.candidates(hash: 0).isEmpty)
    }

    func testTheTableRetainsAndReturnsTheFirstOfSeveralEqualValues() throws {
        var table = SenderTable<[Int]>()
        let used = table.use([1], hash: 0, same: nil, of: [])
        let number = try XCTUnwrap(used)
        // The table does not compare; the caller says that they are equal.
        let again = table.use([2], hash: 0, same: number, of: [number])
        XCTAssertEqual(again, number)
        XCTAssertEqual(table.candidates(hash: 0).map(\.value), [[1]])
        let released = [table.release(number), table.release(number)]
        XCTAssertEqual(released, [nil, [1]])
    }

    func testANumberIsNeverUsedAgain() throws {
        var table = Table()
        var numbers: Set<UInt64> = []
        for round in 0..<100 {
            let number = try use("one", hash: round % 2, in: &table)
            XCTAssertTrue(numbers.insert(number).inserted)
            let released = table.release(number)
            XCTAssertEqual(released, "one")
        }
        let unknown = table.release(1_000)
        XCTAssertNil(unknown)
    }

    func testValuesWithoutAUseAreNotRetained() throws {
        var table = Table()
        for hash in 0..<1_000 {
            let number = try use("\(hash)", hash: hash, in: &table)
            _ = table.release(number)
        }
        XCTAssertEqual(storedElements(of: table), 0)
    }

    func testIfTheCandidatesHaveChangedTheCallerHasToCompareAgain() throws {
        var table = Table()
        let one = try use("one", in: &table)
        let known = table.candidates(hash: 0).map(\.number)
        // The equal candidate was removed. If it is added again, it has another number.
        _ = table.release(one)
        let gone = table.use("one", hash: 0, same: one, of: known)
        XCTAssertNil(gone)
        let successor = try use("one", in: &table)
        let replaced = table.use("one", hash: 0, same: one, of: known)
        XCTAssertNil(replaced)
        // A candidate was added that the value was not compared with.
        let unseen = table.use("other", hash: 0, same: nil, of: known)
        XCTAssertNil(unseen)
        // A refused use is not counted.
        let released = table.release(successor)
        XCTAssertEqual(released, "one")
        XCTAssertTrue(table.isEmpty)
        // A candidate that the value was compared with may have been removed.
        let number = table.use("other", hash: 0, same: nil, of: known)
        XCTAssertNotNil(number)
    }

    // MARK: Several threads

    /// A thread that uses a value and releases it, and its next step.
    private struct User {
        enum Step {
            case look
            case use(same: UInt64?, candidates: [UInt64])
            case release(UInt64)
            case over
        }

        var value: String
        var step = Step.look
    }

    /// The state of the threads and of the table, and the expected uses.
    private struct World {
        var table = Table()
        var users: [User]
        /// The number and the uses of each value.
        var uses: [String: (number: UInt64, count: Int)] = [:]
        var allNumbers: Set<UInt64> = []
        var refusals = 0
        var log: [String] = []

        init(_ values: [String]) {
            users = values.map { User(value: $0) }
        }

        /// - Returns: the error, if there is one.
        mutating func advance(_ index: Int) -> String? {
            let value = users[index].value
            switch users[index].step {
            case .look:
                log.append("\(index) looks for \(value)")
                let candidates = table.candidates(hash: 0)
                if Set(candidates.map(\.value)) != Set(uses.keys) { return "candidates are \(candidates)" }
                let same = candidates.first { $0.value == value }?.number
                users[index].step = .use(same: same, candidates: candidates.map(\.number))
                return nil
            case .use(let same, let candidates):
                log.append("\(index) uses \(value)")
                return use(index, value, same, candidates)
            case .release(let number):
                log.append("\(index) releases \(value)")
                users[index].step = .over
                return release(value, number)
            case .over:
                return nil
            }
        }

        private mutating func use(
            _ index: Int, _ value: String, _ same: UInt64?, _ candidates: [UInt64]
        ) -> String? {
            guard let number = table.use(value, hash: 0, same: same, of: candidates) else {
                refusals += 1
                users[index].step = .look
                let numbers = uses.values.map(\.number)
                let isStale = same.map { !numbers.contains($0) } ?? !Set(numbers).isSubset(of: candidates)
                return isStale ? nil : "refused, and nothing has changed"
            }
            users[index].step = .release(number)
            if let used = uses[value] {
                uses[value] = (used.number, used.count + 1)
                return number == used.number ? nil : "equal values have the numbers \(number) and \(used.number)"
            }
            uses[value] = (number, 1)
            return allNumbers.insert(number).inserted ? nil : "the number \(number) comes again"
        }

        private mutating func release(_ value: String, _ number: UInt64) -> String? {
            guard let used = uses[value] else { return "released more often than used" }
            uses[value] = used.count == 1 ? nil : (number, used.count - 1)
            let released = table.release(number)
            if released != (used.count == 1 ? value : nil) { return "handed out \(released ?? "nothing")" }
            return table.isEmpty == uses.isEmpty ? nil : "empty is \(table.isEmpty)"
        }
    }

    private struct Wrong: Error {
        var what: String
    }

    /// Makes the steps of the threads in every order.
    /// - Returns: the number of orders, and the number of those in which a thread had to compare again.
    private func everyOrder(_ world: World) throws(Wrong) -> (all: Int, withRefusals: Int) {
        let ready = world.users.indices.filter { if case .over = world.users[$0].step { false } else { true } }
        if ready.isEmpty {
            guard world.table.isEmpty else { throw Wrong(what: "all threads have finished, but values are left") }
            return (1, world.refusals == 0 ? 0 : 1)
        }
        var count = (all: 0, withRefusals: 0)
        for index in ready {
            var next = world
            if let what = next.advance(index) {
                throw Wrong(what: "\(what): \(next.log.joined(separator: ", "))")
            }
            let orders = try everyOrder(next)
            count = (count.all + orders.all, count.withRefusals + orders.withRefusals)
        }
        return count
    }

    func testTwoOrThreeThreadsShareNumbersAndLoseNoValueInEveryOrderOfTheirSteps() throws {
        let others = [["a", "a", "a"], ["a", "b", "c"]]
        for values in [["a", "a"], ["a", "b"], ["a", "a", "b"]] + (TestRounds.isStress ? others : []) {
            try interleaved(values: values)
        }
    }

    private func interleaved(values: [String]) throws {
        let orders = try everyOrder(World(values))
        XCTAssertGreaterThan(orders.withRefusals, 0)
        XCTAssertGreaterThan(orders.all, orders.withRefusals)
    }
}
