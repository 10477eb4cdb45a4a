import Synchronization

extension Atomic {
    /// An atomic value that several closures share.
    final class Box: Sendable where Value: Sendable {
        let value: Atomic<Value>

        init(_ value: consuming Value) {
            self.value = Atomic(value)
        }
    }
}
