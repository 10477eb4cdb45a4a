internal import Foundation

/// Calls closures, without a center: the baseline of posts on the thread of the handlers.
final class ClosureCalls: BenchmarkSubject {
    private final class Handler {
        let body: (Notification) -> Void

        init(_ body: @escaping (Notification) -> Void) {
            self.body = body
        }
    }

    private let count = CallCount()
    private let handlers: [Handler]

    init(_ observers: Int) {
        handlers = (0..<observers).map { [count] _ in Handler { _ in count.count() } }
    }

    func measure(_ operations: Int) throws -> Sample {
        let notification = Notification(name: Channel.name)
        // Unretained, because a retain for each call would cost several times the call; the array retains the handlers.
        let handlers = handlers.map(Unmanaged.passUnretained)
        let sample = Sample.timing(operations) {
            for _ in 0..<operations {
                for handler in handlers { handler._withUnsafeGuaranteedRef { $0.body(notification) } }
            }
        }
        try count.expect(operations * handlers.count)
        return sample
    }

    func end() {}
}
