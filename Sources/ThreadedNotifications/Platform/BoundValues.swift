/// The values of `ThreadBound` that live on one thread. It belongs to `ThreadContext`.
struct BoundValues {
    private var values: [UInt64: AnyObject] = [:]
    /// True from the end of the thread on.
    private(set) var isClosed = false

    /// - Parameter id: the number of the value's `ThreadBound`.
    subscript(id: UInt64) -> AnyObject? {
        get { values[id] }
        set { values[id] = newValue }
    }

    /// The caller releases the value, which may call foreign code.
    mutating func remove(_ id: UInt64) -> AnyObject? { values.removeValue(forKey: id) }

    /// The thread ends: no value is added from now on.
    /// - Returns: the numbers of the values, in the order in which they are to be removed.
    mutating func close() -> [UInt64] {
        isClosed = true
        return values.keys.sorted(by: >)
    }
}
