internal import Dispatch

/// Calls a function once when a delay has passed, unless it is cancelled before.
///
/// Threads: every method may be called on any thread.
/// Order: delays that pass at the same time make their calls one after the other, in the order in which they began.
final class Delay: Sendable {
    private static let queue = DispatchQueue(label: "ThreadedNotifications.delays")

    // Safety: a source may be cancelled on any thread.
    private nonisolated(unsafe) let timer: any DispatchSourceTimer

    init(_ delay: Duration, _ body: @escaping @Sendable () -> Void) {
        timer = DispatchSource.makeTimerSource(flags: .strict, queue: Self.queue)
        timer.setEventHandler(handler: body)
        timer.schedule(deadline: .now() + .nanoseconds(Int(delay.timeoutNanoseconds)), leeway: .nanoseconds(0))
        timer.activate()
    }

    /// The delay has passed, or is no longer needed. Called once at least.
    func cancel() { timer.cancel() }
}
