internal import Foundation
internal import Glibc
internal import Synchronization

/// Notes signals to this process, and wakes the main run loop for them, until `end()`.
///
/// Several may watch the same signal, each inside the one before; the innermost takes it.
@MainActor
final class SignalWatch {
    /// Wakes the main run loop; nil if the system has no descriptor left. It stays, because a signal handler may run on
    /// any thread at any time.
    private static let source: RunLoopSource? = {
        guard let event = EventDescriptor() else { return nil }
        let source = RunLoopSource(event) {}
        source.add(to: .current, mode: .default)
        descriptor.store(event.number, ordering: .sequentiallyConsistent)
        return source
    }()

    /// False if a signal does not wake the run loop, because the system has no descriptor left.
    let wakesRunLoop: Bool
    private var before: [(number: CInt, action: sigaction)] = []

    /// - Precondition: the system lets a process handle the signals.
    init(_ signals: [CInt]) {
        // Initialises everything that the signal handler uses.
        _ = (noted.load(ordering: .relaxed), descriptor.load(ordering: .relaxed))
        wakesRunLoop = signals.isEmpty || Self.source != nil
        for number in Set(signals) { watch(number) }
    }

    private func watch(_ number: CInt) {
        var action = sigaction()
        precondition(
            (1...64).contains(number) && sigaction(number, nil, &action) == 0,
            "MainRunLoop: there is no signal \(number). Name signals such as SIGINT and SIGTERM.")
        // Safety: both types are pointers, and the result is only compared. SIG_IGN is the address 1.
        if action.sa_flags & SA_SIGINFO == 0, unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1 {
            return
        }
        var noting = sigaction()
        noting.__sigaction_handler.sa_handler = { SignalWatch.note($0) }
        noting.sa_flags = SA_RESTART
        precondition(
            sigaction(number, &noting, nil) == 0,
            "MainRunLoop: no process can handle signal \(number). Name signals such as SIGINT and SIGTERM.")
        before.append((number, action))
    }

    /// Called by the signal handler: it calls only functions that are safe there.
    private nonisolated static func note(_ number: CInt) {
        let error = errno
        noted.bitwiseOr(bit(number), ordering: .sequentiallyConsistent)
        var one: UInt64 = 1
        _ = write(descriptor.load(ordering: .sequentiallyConsistent), &one, MemoryLayout.size(ofValue: one))
        errno = error
    }

    /// The lowest noted signal of this watch, which is then forgotten.
    func take() -> CInt? {
        if before.isEmpty || noted.load(ordering: .relaxed) == 0 { return nil }
        return before.map(\.number).sorted().first(where: Self.take)
    }

    private static func take(_ number: CInt) -> Bool {
        noted.bitwiseAnd(~bit(number), ordering: .sequentiallyConsistent).oldValue & bit(number) != 0
    }

    private nonisolated static func bit(_ number: CInt) -> UInt64 { 1 << UInt64(number - 1) }

    /// Restores the effects of the signals. Those that were noted and not taken have their restored effect.
    func end() {
        for (number, action) in before {
            var action = action
            sigaction(number, &action, nil)
        }
        for (number, _) in before where Self.take(number) { kill(getpid(), number) }
        before = []
    }
}

/// The signals that arrived, a bit for each.
private let noted = Atomic<UInt64>(0)
/// Of the source that wakes the main run loop.
private let descriptor = Atomic<CInt>(-1)
