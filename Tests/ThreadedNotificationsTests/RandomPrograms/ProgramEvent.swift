/// An event of a random program. The numbers are those of posts, observers, blocks and threads, each from 0.
enum ProgramEvent: Sendable {
    case adding(_ observer: Int, plan: Int, thread: Int)
    case added(_ observer: Int)
    case removing(_ observer: Int, thread: Int)
    case removed(_ observer: Int, thread: Int)

    case posting(_ post: Int, name: Int, thread: Int, waits: Bool)
    /// - Parameter total: the counted outcomes; nil if the post was refused, because its wait would be a deadlock.
    case posted(_ post: Int, total: Int?)
    case transforming(_ post: Int, _ observer: Int, thread: Int)
    case transformed(_ post: Int, _ observer: Int, hasValue: Bool)
    case began(_ post: Int, _ observer: Int, thread: Int)
    case ended(_ post: Int, _ observer: Int, thread: Int)

    case performing(_ block: Int, from: Int, on: Int, RandomProgram.Action.Order)
    /// - Parameter isAccepted: false if the wait would be a deadlock, or the thread has ended.
    case performed(_ block: Int, isAccepted: Bool)
    case blockBegan(_ block: Int, thread: Int)
    case blockEnded(_ block: Int, thread: Int)

    case runBegan(thread: Int)
    case runEnded(thread: Int)
    /// A handler or block calls `Thread.exit()`.
    case exiting(thread: Int)
}
