import Synchronization

/// A number that threads share.
final class Number: Sendable {
    private let number = Atomic<Int32>(0)

    var value: Int32 {
        get { number.load(ordering: .sequentiallyConsistent) }
        set { number.store(newValue, ordering: .sequentiallyConsistent) }
    }
}
