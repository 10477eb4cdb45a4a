/// Numbers for the values that are senders of waiting notifications, the same number for equal values. So a buffer can
/// compare senders without calling `==`, which is foreign code.
///
/// The owner compares a value with the candidates without its lock, and calls `use` with the result. Numbers are never
/// used again.
struct SenderTable<Value> {
    private struct Known {
        var number: UInt64
        var value: Value
        var uses: Int
    }

    private var known: [Int: [Known]] = [:]
    private var hashes: [UInt64: Int] = [:]
    private var lastNumber: UInt64 = 0

    var isEmpty: Bool { hashes.isEmpty }

    /// The values with this hash. A new value may be equal to one of them.
    func candidates(hash: Int) -> [(number: UInt64, value: Value)] {
        known[hash]?.map { ($0.number, $0.value) } ?? []
    }

    /// Adds a use of a value.
    /// - Parameters:
    ///   - same: the candidate that is equal to the value, if there is one.
    ///   - candidates: those that the value was compared with.
    /// - Returns: the value's number; nil if the candidates have changed.
    mutating func use(_ value: Value, hash: Int, same: UInt64?, of candidates: [UInt64]) -> UInt64? {
        if let same {
            guard let index = known[hash]?.firstIndex(where: { $0.number == same }) else { return nil }
            known[hash]?[index].uses += 1
            return same
        }
        guard known[hash, default: []].allSatisfy({ candidates.contains($0.number) }) else { return nil }
        lastNumber += 1
        known[hash, default: []].append(Known(number: lastNumber, value: value, uses: 1))
        hashes[lastNumber] = hash
        return lastNumber
    }

    /// Removes a use of a value.
    /// - Returns: the value if it has no use left, so that the owner can release it without its lock.
    mutating func release(_ number: UInt64) -> Value? {
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
