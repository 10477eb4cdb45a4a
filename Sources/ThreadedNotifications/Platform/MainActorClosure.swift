/// Removes the main actor's isolation from closures that are called on the main thread only. A check at each call
/// (`MainActor.assumeIsolated`) would cost as much as a delivery.
//
// Safety: the callers pass the result to the mailbox of the main thread, and nowhere else; the main thread runs the
// main actor. If it has ended, the closure is never called. The isolation of a synchronous function is part of its
// type, and not of its representation: `assumeIsolated` of the standard library makes the same cast.
enum MainActorClosure {
    static func onMainThread<Value, Result>(
        _ handle: @escaping @MainActor (Value) -> Result
    ) -> @Sendable (Value) -> Result {
        unsafeBitCast(handle, to: (@Sendable (Value) -> Result).self)
    }

    static func onMainThread<Result>(_ block: @escaping @MainActor () -> Result) -> @Sendable () -> Result {
        unsafeBitCast(block, to: (@Sendable () -> Result).self)
    }

    static func onMainThread<Result>(
        throwing block: @escaping @MainActor () throws -> Result
    ) -> @Sendable () throws -> Result {
        unsafeBitCast(block, to: (@Sendable () throws -> Result).self)
    }
}
