/// The number of handler calls. Only the posting thread uses it.
final class CallCount {
    /// A pointer, because access to a class's variable is checked for exclusivity at run time, which would be measured
    /// too.
    private let calls = UnsafeMutablePointer<Int>.allocate(capacity: 1)

    init() {
        calls.initialize(to: 0)
    }

    deinit {
        calls.deallocate()
    }

    func count(_ number: Int = 1) {
        calls.pointee += number
    }

    func expect(_ expected: Int) throws {
        defer { calls.pointee = 0 }
        guard calls.pointee == expected else {
            throw BenchmarkError.miscounted(handled: calls.pointee, posted: expected)
        }
    }
}
