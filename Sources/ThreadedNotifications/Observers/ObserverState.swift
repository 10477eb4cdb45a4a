/// True if an observer was removed, and the number of its handlers that run: a pure value in one word, so that an
/// atomic exchange can change it.
///
///     registered, 0 run ──begin──► registered, n run ──end──► …
///          │ cancel                     │ cancel
///          ▼                            ▼
///     cancelled, 0 run ◄──end────  cancelled, n run
///
/// A handler begins only while the observer is registered (guarantee 6). The change that makes the state cancelled with
/// no handler running happens once.
struct ObserverState: Hashable {
    var word: UInt64

    static let registered = ObserverState(word: 0)

    private static let cancelledBit: UInt64 = 1
    private static let awaitedBit: UInt64 = 2
    private static let oneHandler: UInt64 = 4

    var isCancelled: Bool { word & Self.cancelledBit != 0 }

    /// True if a thread or task waits for the handlers to return.
    var isAwaited: Bool { word & Self.awaitedBit != 0 }

    var running: Int { Int(word / Self.oneHandler) }

    /// Cancelled, and no handler runs: the handler is never called again.
    var isOver: Bool { isCancelled && running == 0 }

    /// A handler begins; nil if the observer was removed.
    var begun: ObserverState? { isCancelled ? nil : ObserverState(word: word + Self.oneHandler) }

    /// A handler has returned.
    var ended: ObserverState { ObserverState(word: word - Self.oneHandler) }

    var cancelled: ObserverState { ObserverState(word: word | Self.cancelledBit) }

    var awaited: ObserverState { ObserverState(word: word | Self.awaitedBit) }
}
