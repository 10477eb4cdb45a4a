/// Whether an observer was removed, and how many of its handlers run: a pure value in one word, so that it can be
/// decided on without a lock.
///
///     registered, 0 run ──begin──► registered, n run ──end──► …
///          │ cancel                     │ cancel
///          ▼                            ▼
///     cancelled, 0 run ◄──end────  cancelled, n run
///
/// A handler begins only while registered (guarantee 6). Whoever makes it cancelled with none running is the last out.
struct ObserverLife: Hashable {
    var word: UInt64

    static let registered = ObserverLife(word: 0)

    private static let cancelledBit: UInt64 = 1
    private static let awaitedBit: UInt64 = 2
    private static let oneHandler: UInt64 = 4

    var isCancelled: Bool { word & Self.cancelledBit != 0 }

    /// Somebody waits for the handlers to return.
    var isAwaited: Bool { word & Self.awaitedBit != 0 }

    var running: Int { Int(word / Self.oneHandler) }

    /// Cancelled, and nothing runs: nobody will call the handler any more.
    var isOver: Bool { isCancelled && running == 0 }

    /// A handler is to run; nil if the observer was removed.
    var begun: ObserverLife? { isCancelled ? nil : ObserverLife(word: word + Self.oneHandler) }

    /// A handler has returned.
    var ended: ObserverLife { ObserverLife(word: word - Self.oneHandler) }

    var cancelled: ObserverLife { ObserverLife(word: word | Self.cancelledBit) }

    var awaited: ObserverLife { ObserverLife(word: word | Self.awaitedBit) }
}
