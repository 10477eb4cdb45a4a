internal import Synchronization

/// A value that need not be `Sendable` and lives on one thread. It is created, used and released there.
///
///     let parser = try ThreadBound(on: worker) { Parser() }
///     let token = center.addObserver(forName: name, on: parser) { _ in parser.value.feed() }
///     try parser.perform { parser.value.reset() }
///
/// It is a target like its thread. Code on the thread reaches the value through `value`; other threads pass only this
/// object around, which is `Sendable`.
/// Threads: any; `value` only on the value's thread. The compiler does not stop code there from passing what it got
/// from `value` to another thread: do not. While a handler or block changes a struct in place, as `counts.value.add(1)`
/// does, nothing that it calls may use the same `value`; Swift stops the program then.
/// Order: on the thread itself, `init` creates the value. On another thread it is created as the next block that is
/// performed there, or by the first code there that uses it before, so that it exists for every handler and block.
/// Removal: when this object is released, its thread releases the value before it delivers anything that is enqueued
/// later. Handlers and blocks that use the object retain it. When the thread ends, it releases the value after it has
/// released its handlers, and before its end is reported; of several values, the one that was created last is released
/// first. Then `value` stops the program. No other thread ever releases the value. At the end of the process the values
/// of its threads are not released. If the value keeps a token whose handler uses this object, they retain each other,
/// and the value exists until its thread ends.
/// Cost: a block when it is created; a look-up in the thread's storage for each use.
public final class ThreadBound<Value>: DeliveryTarget {
    private final class Storage {
        var value: Value

        init(_ value: Value) { self.value = value }
    }

    public var targetThread: TargetThread { TargetThread(mailbox: mailbox) }
    private let mailbox: Mailbox
    private let id = lastID.add(1, ordering: .relaxed).newValue
    /// Nil after the value was created, or while it is.
    private let create: Locked<(@Sendable () -> Value)?>

    /// Creates a value on a thread.
    /// - Parameters:
    ///   - thread: has been started. `.postingThread` is no thread of its own, and stops the program.
    ///   - create: called on the thread once, unless the thread ends or this object is released before.
    /// - Throws: `DeliveryError` with the code `threadNotStarted` or `threadStopped`; then `create` is not called.
    public init(on thread: some DeliveryTarget, _ create: @escaping @Sendable () -> Value) throws(DeliveryError) {
        guard let mailbox = thread.targetThread.mailbox else {
            preconditionFailure("ThreadBound: .postingThread is whichever thread posts. Name the value's thread.")
        }
        (self.mailbox, self.create) = (mailbox, Locked(create))
        if let reason = mailbox.reasonNotToWait { throw reason }
        if mailbox.isCurrent {
            _ = storage
        } else {
            try targetThread.perform { [weak self] in _ = self?.storage }
        }
    }

    /// Creates a value on the main thread. The block is isolated to the main actor.
    public convenience init(on thread: MainThread, _ create: @escaping @MainActor () -> Value) throws(DeliveryError) {
        try self.init(on: thread.targetThread, MainActorClosure.onMainThread(create))
    }

    deinit { if create.withLock({ $0 == nil }) { mailbox.release(BoundValueRelease(id: id)) } }

    /// The value. Other threads than the value's, and the value's thread when it has ended, stop the program.
    public var value: Value {
        get { storage.value }
        _modify { yield &storage.value }
    }

    private var storage: Storage {
        ThreadContext.withCurrent { context in
            if let known = context.boundValues[id] {
                // Safety: `newStorage` added the object with this number, which no other object has.
                return unsafeDowncast(known, to: Storage.self)
            }
            return newStorage(context)
        }
    }

    private func newStorage(_ context: ThreadContext) -> Storage {
        precondition(
            mailbox.isCurrent,
            """
            ThreadBound: the \(Value.self) belongs to the thread \(mailbox.description), and \(ThreadIdentity.current) \
            uses it. Use it in handlers and blocks of its thread: addObserver(forName:on:using:) and perform(_:) take the \
            ThreadBound as their thread.
            """)
        precondition(
            !context.boundValues.isClosed,
            "ThreadBound: the thread \(mailbox.description) has ended, and has released the \(Value.self).")
        guard let create = create.withLock({ $0.take() }) else {
            preconditionFailure("ThreadBound: the \(Value.self) is used while it is created.")
        }
        let storage = Storage(create())
        context.boundValues.add(storage, id)
        return storage
    }
}

/// Releases a bound value where it is deallocated: on the value's thread. After that thread has ended, it has done so.
private final class BoundValueRelease: Sendable {
    private let id: UInt64

    init(id: UInt64) { self.id = id }

    deinit { ThreadContext.withCurrent { $0.releaseBoundValue(id) } }
}

private let lastID = Atomic<UInt64>(0)
