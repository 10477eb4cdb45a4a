/// What waits for a thread, first in, first out: the document's array, as a pure value.
///
/// It has no lock, thread or clock; its owner has them and does what `append` and `endDrain` answer.
///
///     empty ──append: signal──► waiting ──append: nothing──► waiting
///       ▲                          │ beginDrain: signal, if more than one waits
///       │                          │ takeFirst, as often as beginDrain said
///       └──────endDrain: nothing───┴──endDrain: signal, if something was appended meanwhile──► waiting
///
/// Whenever something waits, the thread is signalled. That is so also while a delivery is under way, so that a run loop
/// that the delivery runs finds the rest.
///
/// Cost: constant for each operation, on average; removing the first of an array would make a deep queue quadratic.
struct PendingDeliveries<Delivery> {
    private var appended: [Delivery] = []
    /// The older ones, last first, so that the first is taken off the end.
    private var oldestLast: [Delivery] = []

    var count: Int { appended.count + oldestLast.count }

    var isEmpty: Bool { appended.isEmpty && oldestLast.isEmpty }

    /// Adds to the end.
    /// - Returns: whether the thread must be signalled: only when nothing was waiting, else a signal is on its way.
    mutating func append(_ delivery: Delivery) -> Bool {
        let wasEmpty = isEmpty
        appended.append(delivery)
        return wasEmpty
    }

    /// How many to take in this drain: those that wait now, so that a delivery that appends cannot keep the
    /// drain going for ever. And whether the thread must be signalled before the first of them is delivered.
    func beginDrain() -> (count: Int, mustSignal: Bool) { (count, count > 1) }

    /// Takes one at a time, so that a nested drain goes on where this one stands and order is kept.
    mutating func takeFirst() -> Delivery? {
        if oldestLast.isEmpty {
            oldestLast = appended.reversed()
            appended.removeAll(keepingCapacity: true)
        }
        return oldestLast.popLast()
    }

    /// - Returns: whether the thread must be signalled again for what was appended during the drain.
    func endDrain() -> Bool { !isEmpty }
}
