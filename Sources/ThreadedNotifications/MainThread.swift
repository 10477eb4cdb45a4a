/// The main thread: `.main`.
///
///     let token = center.addObserver(forName: name, on: .main) { notification in
///         window.title = …   // isolated to the main actor
///     }
///     try MainThread.main.perform { … }
///
/// Handlers and blocks for it are isolated to the main actor. It delivers while it runs its run loop:
/// `MainRunLoop.run { isOver }`, or `RunLoop.main.run()`, which does not return.
///
/// A program or a test target with an `async` main function links the library `AsyncMain`, which runs the run loop
/// while main awaits. Test targets of Swift Testing have such a function.
///
/// Without that library, or after `dispatchMain()`, the main thread ends before the program, and nothing is delivered
/// there: later notifications are `targetGone`, and the first that is lost causes a warning on standard error.
/// `THREADED_NOTIFICATIONS_WARNINGS=0` in the environment disables the warning.
public struct MainThread: DeliveryTarget {
    public var targetThread: TargetThread { TargetThread(mailbox: .main) }
}

extension DeliveryTarget where Self == MainThread {
    /// The main thread.
    public static var main: MainThread { MainThread() }
}

extension MainThread {
    /// As `DeliveryTarget.perform(_:)`, with a block that is isolated to the main actor.
    public func perform(_ block: @escaping @MainActor () -> Void) throws(DeliveryError) {
        try targetThread.perform(MainActorClosure.onMainThread(block))
    }

    /// As `DeliveryTarget.performLater(_:)`, with a block that is isolated to the main actor.
    public func performLater(_ block: @escaping @MainActor () -> Void) throws(DeliveryError) {
        try targetThread.performLater(MainActorClosure.onMainThread(block))
    }

    /// As `DeliveryTarget.performAndWait(timeout:file:line:_:)`, with a block that is isolated to the main actor.
    @available(*, noasync, message: "it blocks the thread; perform without waiting")
    public func performAndWait<Value: Sendable>(
        timeout: Duration, file: String = #fileID, line: Int = #line, _ block: @escaping @MainActor () throws -> Value
    ) throws -> Value {
        try targetThread.performAndWait(
            timeout: timeout, file: file, line: line, MainActorClosure.onMainThread { Result { try block() } }
        ).get()
    }

    /// As `DeliveryTarget.perform(after:_:)`, with a block that is isolated to the main actor.
    @discardableResult
    public func perform(
        after delay: Duration, _ block: @escaping @MainActor () -> Void
    ) throws(DeliveryError) -> DelayedBlock {
        try targetThread.perform(after: delay, MainActorClosure.onMainThread(block))
    }
}
