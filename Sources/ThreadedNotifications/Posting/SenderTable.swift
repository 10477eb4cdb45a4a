/// Numbers for values that notifications have as senders, equal ones having the same, so that a buffer can find them without
/// calling their `==`, which is foreign code.
///
/// Its owner compares, without its lock: it asks for the candidates, compares with them, and comes back with what it found.
/// If there are others by then, it is asked to compare again. Numbers are never used again.
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

    /// The values with this hash, one of which may be equal to a new one.
    func candidates(hash: Int) -> [(number: Number, value: Value)] {
        known[hash]?.map { ($0.number, $0.value) } ?? []
    }

    /// Counts one use more of a value.
    ///
    /// - Parameters:
    ///   - same: which candidate is equal to it; nil: none.
    ///   - candidates: with which it was compared.
    /// - Returns: its number; nil if there are other candidates by now.
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

    /// Counts one use less.
    /// - Returns: the value, if nobody uses it any more: to be let go of without a lock.
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
