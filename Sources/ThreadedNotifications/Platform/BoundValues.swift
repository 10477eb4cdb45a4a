/// The values of `ThreadBound` that live on one thread. It belongs to `ThreadContext`.
struct BoundValues {
    private var values: [UInt64: (position: Int, value: AnyObject)] = [:]
    private var lastPosition = 0
    /// True from the end of the thread on.
    private(set) var isClosed = false

    /// - Parameter id: the number of the value's `ThreadBound`.
    subscript(id: UInt64) -> AnyObject? { values[id]?.value }

    mutating func add(_ value: AnyObject, _ id: UInt64) {
        lastPosition += 1
        values[id] = (lastPosition, value)
    }

    /// The caller releases the value, which may call foreign code.
    mutating func remove(_ id: UInt64) -> AnyObject? { values.removeValue(forKey: id)?.value }

    /// The thread ends: no value is added from now on.
    /// - Returns: the numbers of the values, in the order of their removal: the last one that was added first, because
    ///   it may use the others.
    mutating func close() -> [UInt64] {
        isClosed = true
        return values.sorted { $0.value.position > $1.value.position }.map(\.key)
    }
}
