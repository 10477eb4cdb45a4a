/// How a notification is delivered that is posted on its target thread.
public enum SameThreadPolicy: Sendable, Hashable {
    /// It is delivered before `post` returns, if no other delivery waits there that could be made now. Otherwise it is
    /// appended to the mailbox. It is also appended if deliveries are nested more than 100 deep, so that a handler that
    /// posts to itself neither overflows the stack nor blocks the run loop.
    case ordered
    /// It is always delivered before `post` returns, in any run loop mode, and may overtake what waits: the document's
    /// rule. Nested 250 deep it stops the program.
    case atOnce
}
