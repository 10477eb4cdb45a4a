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
///
/// The word also counts the handlers that ran before `post` returned, so that one exchange begins and counts.
struct ObserverState: Hashable {
    var word: UInt64

    static let registered = ObserverState(word: 0)

    private static let cancelledBit: UInt64 = 1
    private static let awaitedBit: UInt64 = 2
    private static let oneHandler: UInt64 = 4
    /// 24 bits count the running handlers: 67,000 threads with 250 nested handlers each.
    private static let oneAtOnce: UInt64 = 1 << 26
    /// Far from overflow, so that many threads may reach it at the same time.
    private static let manyAtOnce = UInt64(1) << 36

    var isCancelled: Bool { word & Self.cancelledBit != 0 }

    /// True if a thread waits for the handlers to return.
    var isAwaited: Bool { word & Self.awaitedBit != 0 }

    var running: Int { Int(word % Self.oneAtOnce / Self.oneHandler) }

    /// The number of handlers that ran before `post` returned, since the last `withoutMany`.
    var atOnce: Int { Int(word / Self.oneAtOnce) }

    /// Cancelled, and no handler runs: the handler is never called again.
    var isOver: Bool { isCancelled && running == 0 }

    /// A handler begins; nil if the observer was removed.
    var begun: ObserverState? { isCancelled ? nil : ObserverState(word: word + Self.oneHandler) }

    /// As `begun`, for a handler that is called before `post` returns.
    var begunAtOnce: ObserverState? { isCancelled ? nil : ObserverState(word: word + Self.oneHandler + Self.oneAtOnce) }

    /// True if `many` should be moved to another counter, before the word overflows.
    var countsMany: Bool { word / Self.oneAtOnce >= Self.manyAtOnce }

    static var many: Int { Int(manyAtOnce) }

    var withoutMany: ObserverState? {
        countsMany ? ObserverState(word: word - Self.manyAtOnce * Self.oneAtOnce) : nil
    }

    /// A handler has returned.
    var ended: ObserverState { ObserverState(word: word - Self.oneHandler) }

    var cancelled: ObserverState { ObserverState(word: word | Self.cancelledBit) }

    var awaited: ObserverState { ObserverState(word: word | Self.awaitedBit) }
}
