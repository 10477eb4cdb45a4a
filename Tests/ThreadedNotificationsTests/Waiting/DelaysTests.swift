import SharedTesting
import Testing

@testable import ThreadedNotifications

@Suite("Delays")
struct DelaysTests {
    private let start = ContinuousClock.now

    @Test("elements are taken in the order of their deadlines, and of insertion if deadlines are equal")
    func order() {
        var generator = SeededGenerator(seed: 1)
        var delays = Delays<Int>()
        var expected: [(deadline: Int, element: Int)] = []
        for element in 0..<1000 {
            let deadline = Int.random(in: 0..<100, using: &generator)
            _ = delays.insert(element, at: start + .seconds(deadline))
            expected.append((deadline, element))
        }
        expected.sort { ($0.deadline, $0.element) < ($1.deadline, $1.element) }
        #expect(delays.take(at: start + .seconds(100)) == expected.map(\.element))
        #expect(delays.nextDeadline == nil)
        #expect(delays.capacity < 200)
    }

    @Test("only due elements that were not removed are taken, and once")
    func model() {
        var generator = SeededGenerator(seed: 2)
        var delays = Delays<Int>()
        var waiting: [(deadline: Int, element: Int, id: Delays<Int>.ID)] = []
        var now = 0
        for element in 0..<5_000 {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<5:
                let deadline = now + Int.random(in: 0..<50, using: &generator)
                let (id, _) = delays.insert(element, at: start + .seconds(deadline))
                waiting.append((deadline, element, id))
            case 5..<9:
                guard let index = waiting.indices.randomElement(using: &generator) else { continue }
                let removed = waiting.remove(at: index)
                #expect(delays.remove(removed.id) == removed.element)
                #expect(delays.remove(removed.id) == nil)
            default:
                now += Int.random(in: 0..<10, using: &generator)
                let due = waiting.filter { $0.deadline <= now }.sorted { ($0.deadline, $0.id) < ($1.deadline, $1.id) }
                waiting.removeAll { $0.deadline <= now }
                #expect(delays.take(at: start + .seconds(now)) == due.map(\.element))
            }
        }
    }

    @Test("an insertion reports whether it changes the next deadline")
    func next() {
        var delays = Delays<String>()
        #expect(delays.insert("first", at: start + .seconds(2)).isNext)
        #expect(!delays.insert("later", at: start + .seconds(2)).isNext)
        #expect(delays.insert("earlier", at: start + .seconds(1)).isNext)
        #expect(delays.nextDeadline == start + .seconds(1))
        #expect(delays.take(at: start + .seconds(1)) == ["earlier"])
        #expect(delays.nextDeadline == start + .seconds(2))
    }

    @Test("memory does not grow when elements are inserted and removed one by one")
    func removal() {
        var delays = Delays<Int>()
        for element in 0..<50_000 {
            let (id, _) = delays.insert(element, at: start + .seconds(3600))
            #expect(delays.remove(id) == element)
            guard delays.capacity < 200 else {
                Issue.record("memory for \(delays.capacity) elements after \(element) insertions")
                return
            }
        }
    }

    @Test("memory shrinks when many elements are removed")
    func removalOfMany() {
        var delays = Delays<Int>()
        let ids = (0..<10_000).map { delays.insert($0, at: start + .seconds($0)).id }
        for id in ids { _ = delays.remove(id) }
        #expect(delays.capacity < 200)
        #expect(delays.take(at: start + .seconds(10_000)).isEmpty)
    }
}
