internal import Synchronization

/// Who a thread is: its number, its name and the kernel's id of it.
///
/// Foundation on Linux prints a thread as a pointer, loses names and shows a part of that pointer as the thread's
/// id. This value prints as the documents' logs do: `{number = 2, name = (null)}`.
///
/// Threads: `current` and `nameCurrentThread(_:)` speak of the calling thread; the value may be passed to any.
/// Cost: one look-up in thread-specific storage, and a reference count for the name.
public struct ThreadIdentity: Sendable, Hashable, Codable, CustomStringConvertible {
    /// 1 for the main thread; the others count from 2 in the order in which they were first asked for.
    /// A number is never used again, also not when the thread has ended.
    public let number: Int

    /// `main` for the main thread; the whole name given with `nameCurrentThread(_:)` or to a `RunLoopThread`;
    /// otherwise nil. Names that the kernel keeps are not read: children inherit them.
    public let name: String?

    /// The kernel's id, as in `/proc/self/task`. That of the main thread is the process id.
    public let kernelID: Int32

    public init(number: Int, name: String?, kernelID: Int32) {
        self.number = number
        self.name = name
        self.kernelID = kernelID
    }

    public var description: String {
        "{number = \(number), name = \(name ?? "(null)")}"
    }

    /// The identity of the calling thread.
    public static var current: ThreadIdentity {
        let context = ThreadContext.current
        if let known = context.identity { return known }
        let kernelID = SystemThread.currentKernelID
        let identity =
            context.isMain
            ? ThreadIdentity(number: 1, name: "main", kernelID: kernelID)
            : ThreadIdentity(
                number: lastNumber.add(1, ordering: .relaxed).newValue, name: nil, kernelID: kernelID)
        context.identity = identity
        return identity
    }

    /// Names the calling thread, here and for the kernel.
    ///
    /// The kernel keeps the first 15 bytes, cut between characters, and shows them in `/proc`, `top -H` and
    /// debuggers. The main thread's identity stays `main`, and so does what the kernel calls the process.
    public static func nameCurrentThread(_ name: String) {
        let unnamed = current
        guard unnamed.number != 1 else { return }
        ThreadContext.current.identity = ThreadIdentity(
            number: unnamed.number, name: name, kernelID: unnamed.kernelID)
        DeliveryRecording.current?.forget(unnamed)
        SystemThread.nameCurrent(name)
    }
}

private let lastNumber = Atomic<Int>(1)
