import Foundation

/// Requests to end this process, such as Ctrl-C and SIGTERM.
enum EndRequests {
    /// Calls `handle` with each later request, in place of its effect, on a thread of its own. A request that this
    /// process ignores, such as SIGINT in a script's background command, stays ignored.
    ///
    /// Threads: the main thread, before it starts threads that handle signals.
    static func take(_ signals: [Int32], _ handle: @escaping @Sendable (Int32) -> Void) {
        var set = sigset_t()
        sigemptyset(&set)
        for number in signals where !isIgnored(number) { sigaddset(&set, number) }
        // Later threads inherit it.
        pthread_sigmask(SIG_BLOCK, &set, nil)
        Thread.detachNewThread { [set] in
            var (set, number) = (set, Int32(0))
            while sigwait(&set, &number) == 0 { handle(number) }
        }
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        sigaction(number, nil, &action)
        // Safety: both types are pointers, and the result is only compared. SIG_IGN is the address 1.
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }
}
