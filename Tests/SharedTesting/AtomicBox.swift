package import Synchronization

extension Atomic {
    /// An atomic value that several closures share.
    package final class Box: Sendable where Value: Sendable {
        package let value: Atomic<Value>

        package init(_ value: consuming Value) {
            self.value = Atomic(value)
        }
    }
}
