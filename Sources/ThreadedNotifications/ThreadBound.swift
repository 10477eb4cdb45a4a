internal import Synchronization

/// A value that need not be `Sendable` and lives on one thread. It is created, used and released there.
///
///     let parser = try ThreadBound(on: worker) { Parser() }
///     let token = center.addObserver(forName: name, on: parser) { _ in parser.value.feed() }
///     try parser.perform { parser.value.reset() }
///
/// It is a target like its thread. Code on the thread reaches the value through `value`; other threads pass only this
/// object around, which is `Sendable`.
/// Threads: every method may be called on any thread; `value` only on the value's thread. The compiler does not stop
/// code there from passing what it got from `value` to another thread: do not. While a handler or block changes a
/// struct in place, as `counts.value.add(1)` does, nothing that it calls may use the same `value`; Swift stops the
/// program then.
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

        init(_ value: Value) {
            self.value = value
        }
    }

    public let targetThread: TargetThread
    private let mailbox: Mailbox
    private let id = lastID.add(1, ordering: .relaxed).newValue
    /// Nil after the value was created, or while it is.
    private let create: Locked<(@Sendable () -> Value)?>

    /// Creates a value on a thread.
    /// - Parameters:
    ///   - thread: the thread, which has been started. `.postingThread` is no thread of its own, and stops the program.
    ///   - create: called on the thread once, unless the thread ends or this object is released before.
    /// - Throws: `DeliveryError` with the code `threadNotStarted` or `threadStopped`; then `create` is not called.
    public convenience init(
        on thread: some DeliveryTarget, _ create: @escaping @Sendable () -> Value
    ) throws(DeliveryError) {
        try self.init(create, thread.targetThread)
    }

    /// Creates a value on the main thread. The block is isolated to the main actor.
    public convenience init(
        on thread: MainThread, _ create: @escaping @MainActor () -> Value
    ) throws(DeliveryError) {
        try self.init(MainActorClosure.onMainThread(create), thread.targetThread)
    }

    private init(_ create: @escaping @Sendable () -> Value, _ thread: TargetThread) throws(DeliveryError) {
        guard let mailbox = thread.mailbox else {
            preconditionFailure("ThreadBound: .postingThread is whichever thread posts. Name the value's thread.")
        }
        targetThread = thread
        self.mailbox = mailbox
        self.create = Locked(create)
        if let reason = mailbox.reasonNotToWait { throw reason }
        if mailbox.isCurrent {
            _ = storage
        } else {
            try thread.perform { [weak self] in _ = self?.storage }
        }
    }

    deinit {
        guard create.withLock({ $0 == nil }) else { return }
        mailbox.release(BoundValueRelease(id: id))
    }

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
        let create = create.withLock { create in
            defer { create = nil }
            return create
        }
        guard let create else { preconditionFailure("ThreadBound: the \(Value.self) is used while it is created.") }
        let storage = Storage(create())
        context.boundValues.add(storage, id)
        return storage
    }
}

/// Releases a bound value where it is deallocated: on the value's thread. After that thread has ended, it has done so.
private final class BoundValueRelease: Sendable {
    private let id: UInt64

    init(id: UInt64) {
        self.id = id
    }

    deinit {
        ThreadContext.withCurrent { $0.releaseBoundValue(id) }
    }
}

/// The values of `ThreadBound` that live on one thread. It belongs to `ThreadContext`.
struct BoundValues {
    private var values: [UInt64: (position: Int, value: AnyObject)] = [:]
    private var lastPosition = 0
    /// True from the end of the thread on.
    private(set) var isClosed = false

    /// - Parameter id: the number of the value's `ThreadBound`.
    subscript(id: UInt64) -> AnyObject? { values[id]?.value }

    mutating func add(_ value: AnyObject, _ id: UInt64) {
        lastPosition += 1
        values[id] = (lastPosition, value)
    }

    /// The caller releases the value, which may call foreign code.
    mutating func remove(_ id: UInt64) -> AnyObject? { values.removeValue(forKey: id)?.value }

    /// The thread ends: no value is added from now on.
    /// - Returns: the numbers of the values, in the order of their removal: the last one that was added first, because
    ///   it may use the others.
    mutating func close() -> [UInt64] {
        isClosed = true
        return values.sorted { $0.value.position > $1.value.position }.map(\.key)
    }
}

private let lastID = Atomic<UInt64>(0)
