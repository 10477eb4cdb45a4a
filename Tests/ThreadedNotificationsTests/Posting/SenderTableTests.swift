import Testing

@testable import ThreadedNotifications

@Suite("SenderTable")
struct SenderTableTests {
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

    @Test("equal values have the same number, different values different ones, also with the same hash")
    func numbers() throws {
        var table = Table()
        let one = try use("one", in: &table)
        let other = try use("other", in: &table)
        let elsewhere = try use("elsewhere", hash: 1, in: &table)
        #expect(Set([one, other, elsewhere]).count == 3)
        let again = try use("one", in: &table)
        #expect(again == one)
        let candidates = table.candidates(hash: 0)
        #expect(candidates.map(\.number) == [one, other])
        #expect(candidates.map(\.value) == ["one", "other"])
        #expect(table.candidates(hash: 1).map(\.value) == ["elsewhere"])
        #expect(table.candidates(hash: 2).isEmpty)
    }

    @Test("only the last release returns the value")
    func lastRelease() throws {
        var table = Table()
        let number = try use("one", in: &table)
        let other = try use("other", in: &table)
        for _ in 0..<2 { _ = try use("one", in: &table) }
        let released = (0..<4).map { _ in table.release(number) }
        #expect(released == [nil, nil, "one", nil])
        #expect(table.candidates(hash: 0).map(\.number) == [other])
        #expect(!table.isEmpty)
        let last = table.release(other)
        #expect(last == "other")
        #expect(table.isEmpty)
        #expect(table.candidates(hash: 0).isEmpty)
    }

    @Test("the table retains and returns the first of several equal values")
    func firstIsKept() throws {
        var table = SenderTable<[Int]>()
        let used = table.use([1], hash: 0, same: nil, of: [])
        let number = try #require(used)
        // The table does not compare; the caller says that they are equal.
        let again = table.use([2], hash: 0, same: number, of: [number])
        #expect(again == number)
        #expect(table.candidates(hash: 0).map(\.value) == [[1]])
        let released = [table.release(number), table.release(number)]
        #expect(released == [nil, [1]])
    }

    @Test("a number is never used again")
    func neverAgain() throws {
        var table = Table()
        var numbers: Set<UInt64> = []
        for round in 0..<100 {
            let number = try use("one", hash: round % 2, in: &table)
            #expect(numbers.insert(number).inserted)
            let released = table.release(number)
            #expect(released == "one")
        }
        let unknown = table.release(1_000)
        #expect(unknown == nil)
    }

    @Test("values without a use are not retained")
    func nothingIsKept() throws {
        var table = Table()
        for hash in 0..<1_000 {
            let number = try use("\(hash)", hash: hash, in: &table)
            _ = table.release(number)
        }
        #expect(storedElements(of: table) == 0)
    }

    @Test("if the candidates have changed, the caller has to compare again")
    func changedMeanwhile() throws {
        var table = Table()
        let one = try use("one", in: &table)
        let known = table.candidates(hash: 0).map(\.number)
        // The equal candidate was removed. If it is added again, it has another number.
        _ = table.release(one)
        let gone = table.use("one", hash: 0, same: one, of: known)
        #expect(gone == nil)
        let successor = try use("one", in: &table)
        let replaced = table.use("one", hash: 0, same: one, of: known)
        #expect(replaced == nil)
        // A candidate was added that the value was not compared with.
        let unseen = table.use("other", hash: 0, same: nil, of: known)
        #expect(unseen == nil)
        // A refused use is not counted.
        let released = table.release(successor)
        #expect(released == "one")
        #expect(table.isEmpty)
        // A candidate that the value was compared with may have been removed.
        let number = table.use("other", hash: 0, same: nil, of: known)
        #expect(number != nil)
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

    @Test(
        "two or three threads share numbers and lose no value, in every order of their steps",
        arguments: [["a", "a"], ["a", "b"], ["a", "a", "a"], ["a", "a", "b"], ["a", "b", "c"]])
    func interleaved(values: [String]) throws {
        let orders = try everyOrder(World(values))
        #expect(orders.withRefusals > 0)
        #expect(orders.all > orders.withRefusals)
    }
}
