import Testing

@testable import ThreadedNotifications

@Suite("PendingDeliveries")
struct PendingDeliveriesTests {
    @Test("the first appended is the first taken, whatever is appended meanwhile")
    func order() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            var pending = PendingDeliveries<Int>()
            var model: [Int] = []
            for number in 0..<200 {
                if Int.random(in: 0..<3, using: &generator) > 0 {
                    let mustSignal = pending.append(number)
                    #expect(mustSignal == model.isEmpty, "signal exactly when nothing was waiting")
                    model.append(number)
                } else {
                    let taken = pending.takeFirst()
                    #expect(taken == model.first)
                    model = Array(model.dropFirst())
                }
                #expect(pending.count == model.count)
                #expect(pending.isEmpty == model.isEmpty)
                #expect(pending.beginDrain().count == model.count)
                #expect(pending.beginDrain().mustSignal == (model.count > 1), "else a nested run loop finds nothing")
                #expect(pending.endDrain() == !model.isEmpty)
            }
        }
    }

    @Test("a delivery that appends gets another signal, and not a longer drain")
    func appendingWhileDraining() {
        var pending = PendingDeliveries<Int>()
        let first = pending.append(1)
        #expect(first)
        #expect(pending.beginDrain() == (count: 1, mustSignal: false))
        let taken = pending.takeFirst()
        #expect(taken == 1)
        let second = pending.append(2)
        #expect(second, "nothing was waiting, so it is signalled")
        #expect(pending.endDrain(), "and so it is when the drain ends")
    }

    @Test("a million are taken without moving what remains")
    func manyAreTakenInLinearTime() {
        var pending = PendingDeliveries<Int>()
        for number in 0..<1_000_000 { _ = pending.append(number) }
        var sum = 0
        while let number = pending.takeFirst() { sum += number }
        #expect(sum == 499_999_500_000)
    }
}
