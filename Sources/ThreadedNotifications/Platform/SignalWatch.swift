internal import Foundation
internal import Glibc
internal import Synchronization

/// Notes signals to this process, and wakes the main run loop for them, until `end()`.
///
/// Several may watch the same signal, each inside the one before; the innermost takes it.
@MainActor
final class SignalWatch {
    /// False if a signal does not wake the run loop, because the system has no descriptor left.
    let wakesRunLoop: Bool
    private var before: [(number: CInt, action: sigaction)] = []

    /// - Precondition: the system lets a process handle the signals.
    init(_ signals: [CInt]) {
        wakesRunLoop = signals.isEmpty || SignalWake.prepare()
        for number in Set(signals) { watch(number) }
    }

    private func watch(_ number: CInt) {
        var action = sigaction()
        precondition(
            (1...64).contains(number) && sigaction(number, nil, &action) == 0,
            "MainRunLoop: there is no signal \(number). Name signals such as SIGINT and SIGTERM.")
        if action.isIgnored { return }
        var noting = sigaction()
        noting.__sigaction_handler.sa_handler = { SignalWake.note($0) }
        noting.sa_flags = SA_RESTART
        precondition(
            sigaction(number, &noting, nil) == 0,
            "MainRunLoop: no process can handle signal \(number). Name signals such as SIGINT and SIGTERM.")
        before.append((number, action))
    }

    /// The lowest noted signal of this watch, which is then forgotten.
    func take() -> CInt? {
        if before.isEmpty || !SignalWake.isAnyNoted { return nil }
        return before.map(\.number).sorted().first { SignalWake.take($0) }
    }

    /// Restores the effects of the signals. Those that were noted and not taken have their restored effect.
    func end() {
        for (number, action) in before {
            var action = action
            sigaction(number, &action, nil)
        }
        for (number, _) in before where SignalWake.take(number) { kill(getpid(), number) }
        before = []
    }
}

/// The state that the signal handler uses.
private enum SignalWake {
    /// Wakes the main run loop. It stays, because a handler may run on any thread at any time.
    @MainActor private static let source: RunLoopSource? = {
        guard let event = EventDescriptor() else { return nil }
        let source = RunLoopSource(event) {}
        source.add(to: .current, mode: .default)
        descriptor.store(event.number, ordering: .sequentiallyConsistent)
        return source
    }()

    /// Initialises everything that the handler uses.
    /// - Returns: whether a signal wakes the run loop.
    @MainActor static func prepare() -> Bool {
        _ = (noted.load(ordering: .relaxed), descriptor.load(ordering: .relaxed))
        return source != nil
    }

    static var isAnyNoted: Bool { noted.load(ordering: .relaxed) != 0 }

    static func take(_ number: CInt) -> Bool {
        noted.bitwiseAnd(~bit(number), ordering: .sequentiallyConsistent).oldValue & bit(number) != 0
    }

    /// Called by the signal handler: it calls only functions that are safe there.
    static func note(_ number: CInt) {
        let error = errno
        noted.bitwiseOr(bit(number), ordering: .sequentiallyConsistent)
        var one: UInt64 = 1
        _ = write(descriptor.load(ordering: .sequentiallyConsistent), &one, MemoryLayout.size(ofValue: one))
        errno = error
    }

    private static func bit(_ number: CInt) -> UInt64 { 1 << UInt64(number - 1) }
}

extension sigaction {
    fileprivate var isIgnored: Bool {
        // Safety: both types are pointers, and the result is only compared. SIG_IGN is the address 1.
        sa_flags & SA_SIGINFO == 0 && unsafeBitCast(__sigaction_handler.sa_handler, to: Int.self) == 1
    }
}

/// The signals that arrived, a bit for each.
private let noted = Atomic<UInt64>(0)
private let descriptor = Atomic<CInt>(-1)
