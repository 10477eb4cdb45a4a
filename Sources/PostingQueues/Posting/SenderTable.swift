/// Numbers for the values that are senders of notifications, the same number for equal values. So a buffer can compare
/// senders without calling `==`, which is foreign code.
///
/// The owner compares the values without its lock: it asks for the candidates, compares them, and calls `use` with the
/// result. If other candidates were added in between, it has to compare again. Numbers are never used again.
struct SenderTable<Value> {
    typealias Number = UInt64

    private struct Known {
        var number: Number
        var value: Value
        var uses: Int
    }

    private var known: [Int: [Known]] = [:]
    private var hashes: [Number: Int] = [:]
    private var lastNumber: Number = 0

    var isEmpty: Bool { hashes.isEmpty }

    /// The values with this hash. A new value may be equal to one of them.
    func candidates(hash: Int) -> [(number: Number, value: Value)] {
        known[hash]?.map { ($0.number, $0.value) } ?? []
    }

    /// Adds a use of a value.
    ///
    /// - Parameters:
    ///   - same: the number of the candidate that is equal to the value, if there is one.
    ///   - candidates: the numbers of the candidates that the value was compared with.
    /// - Returns: the value's number; nil if the candidates have changed.
    mutating func use(_ value: Value, hash: Int, same: Number?, of candidates: [Number]) -> Number? {
        let present = known[hash] ?? []
        if let same {
            guard let index = present.firstIndex(where: { $0.number == same }) else { return nil }
            known[hash]?[index].uses += 1
            return same
        }
        guard present.allSatisfy({ candidates.contains($0.number) }) else { return nil }
        lastNumber += 1
        known[hash, default: []].append(Known(number: lastNumber, value: value, uses: 1))
        hashes[lastNumber] = hash
        return lastNumber
    }

    /// Removes a use of a value.
    /// - Returns: the value if it has no use left, so that the owner can release it without its lock.
    mutating func release(_ number: Number) -> Value? {
        guard let hash = hashes[number], let index = known[hash]?.firstIndex(where: { $0.number == number }) else {
            return nil
        }
        known[hash]?[index].uses -= 1
        guard known[hash]?[index].uses == 0 else { return nil }
        hashes[number] = nil
        let value = known[hash]?.remove(at: index).value
        if known[hash]?.isEmpty == true { known[hash] = nil }
        return value
    }
}
