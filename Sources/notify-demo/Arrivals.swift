import DeliveryDiagnostics
import DistributedNotifications
import Foundation
import Synchronization
import ThreadedNotifications

/// What has come to an observer on the main thread and is to be printed there, and why the main thread is to end.
final class Arrivals: Sendable {
    /// Why the main thread is to stop waiting.
    enum Interruption: Sendable, Hashable {
        case signal(Int32)
        case commandEnded(StartedCommand.End)
    }

    private struct State {
        var events: [ObservedEvent] = []
        var interruptions: [Interruption] = []
        /// What processes are called, for as long as their ids are not likely to be used again.
        var names: [Int32: String?] = [:]
    }

    private let state = Mutex(State())

    /// For the observer's handler.
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

    /// For the connection observer's handler.
    func add(_ event: ConnectionEvent) {
        let now = Self.wallNanoseconds
        state.withLock { $0.events.append(ObservedEvent(wallNanoseconds: now, kind: .connection(event))) }
    }

    /// On any thread: has the main thread stop waiting.
    func interrupt(_ interruption: Interruption) {
        state.withLock { $0.interruptions.append(interruption) }
        // The main thread's run loop returns after what it did.
        try? TargetThread.main.perform {}
    }

    /// All that came since it was last asked, in order; why to stop comes after what came before.
    func take() -> (events: [ObservedEvent], interruptions: [Interruption]) {
        state.withLock { state in
            defer { state = State() }
            return (state.events, state.interruptions)
        }
    }

    /// Runs the main thread's run loop until something comes or the time has passed.
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
