/// How the handling block holds its observer: the first two go wrong, the others are the document's remedies.
package enum ObserverCapture: String, CaseIterable, Sendable {
    /// Without a reference and unchecked, as an Objective-C center holds it: listing 4.
    case unsafe
    /// Without a reference, checked at each use.
    case unowned
    /// Weakly, and strongly while the handler runs: "weak-strong" in a block.
    case weak
    /// An observer with a stable lifetime: one that is never released.
    case stable
    /// Without a notification: the poster calls a weak delegate.
    case delegation
    /// All on one thread: posted, handled and released there.
    case oneThread = "one-thread"
}
