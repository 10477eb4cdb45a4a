import DeliveryDiagnostics
import DistributedNotifications
import Foundation
import Synchronization
import ThreadedNotifications

/// The events that an observer received, for the main thread to print, and the reasons for it to end.
final class ReceivedEvents: Sendable {
    /// A reason for the main thread to stop waiting.
    enum Interruption: Sendable, Hashable {
        case signal(Int32)
        case commandEnded(StartedCommand.End)
    }

    private struct State {
        var events: [ObservedEvent] = []
        var interruptions: [Interruption] = []
        /// The names of processes. They are forgotten soon, because the system reuses process ids.
        var names: [Int32: String?] = [:]
    }

    private let state = Mutex(State())

    /// Called by the observer's handler.
    func add(_ notification: DistributedNotification) {
        let now = Self.wallNanoseconds
        let thread = ThreadIdentity.current
        let known = state.withLock { $0.names[notification.sender] }
        let name = known ?? Self.processName(notification.sender)
        state.withLock {
            $0.names[notification.sender] = .some(name)
            $0.events.append(
                ObservedEvent(
                    wallNanoseconds: now, kind: .notification(notification, senderName: name, thread: thread)))
        }
    }

    /// Called by the connection observer's handler.
    func add(_ event: ConnectionEvent) {
        let now = Self.wallNanoseconds
        state.withLock { $0.events.append(ObservedEvent(wallNanoseconds: now, kind: .connection(event))) }
    }

    /// Makes the main thread stop waiting.
    ///
    /// - Threads: any.
    func interrupt(_ interruption: Interruption) {
        state.withLock { $0.interruptions.append(interruption) }
        // A run of the main thread's run loop returns after a block.
        try? TargetThread.main.perform {}
    }

    /// Removes and returns all events and interruptions since the last call, each in order.
    func take() -> (events: [ObservedEvent], interruptions: [Interruption]) {
        state.withLock { state in
            defer { state = State() }
            return (state.events, state.interruptions)
        }
    }

    /// Runs the main thread's run loop until an event or an interruption arrives or the time has passed.
    func wait(for duration: Duration?) {
        guard state.withLock({ $0.events.isEmpty && $0.interruptions.isEmpty }) else { return }
        let deadline = duration.map { Date(timeIntervalSinceNow: $0 / .seconds(1)) } ?? .distantFuture
        _ = RunLoop.main.run(mode: .default, before: deadline)
    }

    private static func processName(_ process: Int32) -> String? {
        guard let name = try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8) else { return nil }
        return name.hasSuffix("\n") ? String(name.dropLast()) : name
    }

    private static var wallNanoseconds: Int64 {
        Int64(Date().timeIntervalSince1970 * 1_000_000_000)
    }
}
