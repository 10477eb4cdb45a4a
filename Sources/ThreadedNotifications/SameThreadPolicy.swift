/// How a notification is delivered that is posted on its target thread.
///
/// The policy has no effect on what other threads post, which always waits in the thread's mailbox.
public enum SameThreadPolicy: Sendable, Hashable {
    /// It is delivered before `post` returns, in any run loop mode, if no other delivery waits there. Otherwise it is
    /// appended to the mailbox, and delivered when the run loop runs in a common mode. It is also appended if
    /// deliveries are nested more than 100 deep, so that a handler that posts to itself neither overflows the stack nor
    /// blocks the run loop.
    case ordered
    /// It is always delivered before `post` returns, and may overtake what waits: the document's rule. Nested 250 deep
    /// it stops the program.
    case atOnce
    /// It is always appended to the mailbox, and delivered when the run loop next delivers. The handler is never called
    /// before `post` returns, so a post in the middle of a change cannot re-enter the code that makes the change.
    ///
    /// The same as a queued connection in Qt, `ThreadMode.MAIN_ORDERED` in EventBus, and `Handler.post` in Android.
    /// While it waits, later posts for ordered observers of the thread wait too, so that they do not overtake it.
    /// `postAndWait` does not wait for it on the observer's own thread. An observer on `.postingThread` has no mailbox:
    /// adding it with this policy stops the program.
    case later
}
