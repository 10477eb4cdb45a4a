/// Whether an observer was removed, and how many of its handlers run: a pure value in one word, so that it can be
/// decided on without a lock.
///
///     registered, 0 run ──begin──► registered, n run ──end──► …
///          │ cancel                     │ cancel
///          ▼                            ▼
///     cancelled, 0 run ◄──end────  cancelled, n run
///
/// A handler begins only while registered (guarantee 6). Whoever makes it cancelled with none running is the last out.
///
/// It counts too what was handled before `post` returned, so that beginning and counting are one exchange.
struct ObserverLife: Hashable {
    var word: UInt64

    static let registered = ObserverLife(word: 0)

    private static let cancelledBit: UInt64 = 1
    private static let awaitedBit: UInt64 = 2
    private static let oneHandler: UInt64 = 4
    /// 24 bits for those that run: 67,000 threads with 250 in one another on each.
    private static let oneAtOnce: UInt64 = 1 << 26
    /// Far from overflow, so that many threads may find it so at the same time.
    private static let manyAtOnce = UInt64(1) << 36

    var isCancelled: Bool { word & Self.cancelledBit != 0 }

    /// Somebody waits for the handlers to return.
    var isAwaited: Bool { word & Self.awaitedBit != 0 }

    var running: Int { Int(word % Self.oneAtOnce / Self.oneHandler) }

    /// How many were handled before `post` returned, since the last `withoutMany`.
    var atOnce: Int { Int(word / Self.oneAtOnce) }

    /// Cancelled, and nothing runs: nobody will call the handler any more.
    var isOver: Bool { isCancelled && running == 0 }

    /// A handler is to run; nil if the observer was removed.
    var begun: ObserverLife? { isCancelled ? nil : ObserverLife(word: word + Self.oneHandler) }

    /// As `begun`, in the middle of a post.
    var begunAtOnce: ObserverLife? { isCancelled ? nil : ObserverLife(word: word + Self.oneHandler + Self.oneAtOnce) }

    /// So many are counted that they are to be counted elsewhere, before the word overflows.
    var countsMany: Bool { word / Self.oneAtOnce >= Self.manyAtOnce }

    static var many: Int { Int(manyAtOnce) }

    var withoutMany: ObserverLife? {
        countsMany ? ObserverLife(word: word - Self.manyAtOnce * Self.oneAtOnce) : nil
    }

    /// A handler has returned.
    var ended: ObserverLife { ObserverLife(word: word - Self.oneHandler) }

    var cancelled: ObserverLife { ObserverLife(word: word | Self.cancelledBit) }

    var awaited: ObserverLife { ObserverLife(word: word | Self.awaitedBit) }
}
