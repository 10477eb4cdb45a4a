internal import CRecorderInterface
internal import Synchronization

/// The number and name of a thread, and the kernel's id of it.
///
/// Foundation on Linux prints a thread as a pointer, without its name. This value prints as the documents' logs do:
/// `{number = 2, name = (null)}`.
/// Cost: one look-up in thread-specific storage, and a reference count for the name.
public struct ThreadIdentity: Sendable, Hashable, Codable, CustomStringConvertible {
    /// 1 for the main thread; other threads are numbered from 2, in the order of their first use here.
    /// A number is never reused, not even after the thread has ended.
    public let number: Int

    /// `main` for the main thread; the whole name given with `nameCurrentThread(_:)` or to a `RunLoopThread`;
    /// otherwise nil. The kernel's name of a thread is not read, because new threads inherit it.
    public let name: String?

    /// The kernel's id, as in `/proc/self/task`. The main thread's is the process id.
    public let kernelID: Int32

    public init(number: Int, name: String?, kernelID: Int32) {
        (self.number, self.name, self.kernelID) = (number, name, kernelID)
    }

    public var description: String { "{number = \(number), name = \(name ?? "(null)")}" }

    /// The identity of the calling thread.
    public static var current: ThreadIdentity {
        let context = ThreadContext.current
        if let known = context.identity { return known }
        let number =
            context.isMain ? 1 : Recorder.threadNumber() ?? lastNumber.add(1, ordering: .relaxed).newValue
        let identity = ThreadIdentity(
            number: number, name: context.isMain ? "main" : nil, kernelID: SystemThread.currentKernelID)
        context.identity = identity
        return identity
    }

    /// Names the calling thread, here and for the kernel.
    ///
    /// The kernel keeps the first 15 bytes, truncated between characters, and shows them in `/proc`, `top -H` and
    /// debuggers. On the main thread the call has no effect, because the kernel's name of that thread is the name of
    /// the process.
    public static func nameCurrentThread(_ name: String) {
        let unnamed = current
        guard unnamed.number != 1 else { return }
        ThreadContext.current.identity = ThreadIdentity(number: unnamed.number, name: name, kernelID: unnamed.kernelID)
        Recorder.current?.pointee.forget_thread(UInt64(unnamed.number))
        SystemThread.nameCurrent(name)
    }
}

private let lastNumber = Atomic<Int>(1)
