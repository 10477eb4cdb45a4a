import Testing

@testable import ThreadedNotifications

@Suite("PendingDeliveries")
struct PendingDeliveriesTests {
    private final class Waiter {}
    private typealias Pending = PendingDeliveries<Int, Waiter>

    private static func items(of entries: [Pending.Entry]) -> [Int?] {
        entries.map { if case .item(let item) = $0.content { item } else { nil } }
    }

    @Test("only what is appended to an empty lane signals")
    func signalOnTransition() {
        var pending = Pending()
        let (one, other) = (pending.addLane(), pending.addLane())
        let signal1 = pending.append(1, lane: one)
        #expect(signal1)
        let signal2 = pending.append(2, lane: one)
        #expect(!signal2)
        let signal3 = pending.append(3, lane: other)
        #expect(signal3)
        var taken: [Pending.Entry] = []
        pending.takeAll(lane: one, into: &taken)
        #expect(Self.items(of: taken) == [1, 2])
        #expect(pending.isEmpty(lane: one))
        #expect(!pending.isEmpty(lane: other))
        let signal4 = pending.append(4, lane: one)
        #expect(signal4)
    }

    @Test("places are in the order of appending, over all lanes")
    func places() {
        var pending = Pending()
        let lanes = [pending.addLane(), pending.addLane()]
        for item in 0..<10 { _ = pending.append(item, lane: lanes[item % 2]) }
        var taken = TakenDeliveries<Int, Waiter>()
        for lane in lanes { taken.take(lane: lane) { pending.takeAll(lane: lane, into: &$0) } }
        var order: [Int] = []
        while let entry = taken.takeFirst(of: lanes) {
            if case .item(let item) = entry.content { order.append(item) }
        }
        #expect(order == Array(0..<10))
    }
}
