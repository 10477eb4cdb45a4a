internal import Foundation
internal import ThreadedNotifications

/// A network between NATS and its clients that can fail.
///
/// Threads: two for each connection, which end with it.
final class LoopbackProxy: Sendable {
    enum Behavior: Sendable {
        case forwards
        /// What was written waits.
        case stops
        /// Connections end, and new ones end at once.
        case drops
        /// Clients get what is not NATS's protocol, and their connections end.
        case writesGarbage
    }

    private struct State {
        var behavior = Behavior.forwards
        var sockets: [LoopbackSocket] = []
    }

    private let listener: LoopbackSocket
    private let state = Locked(State())
    private let changed = NSCondition()

    var port: Int { listener.port }

    /// - Parameter hub: the port of NATS.
    init(to hub: Int) throws {
        listener = try .listening()
        let accepts: @Sendable () -> Void = { [listener, self] in
            while let client = listener.accept() { self.connect(client, to: hub) }
        }
        Thread.detachNewThread(accepts)
    }

    /// Ends the listener, and all connections.
    func end() {
        listener.shutDown()
        set(.drops)
    }

    func set(_ behavior: Behavior) {
        let ended = state.withLock { state -> [LoopbackSocket] in
            state.behavior = behavior
            if behavior == .forwards || behavior == .stops { return [] }
            defer { state.sockets = [] }
            return state.sockets
        }
        for socket in ended { if behavior != .writesGarbage { socket.shutDown() } }
        changed.lock()
        changed.broadcast()
        changed.unlock()
    }

    private func connect(_ client: LoopbackSocket, to port: Int) {
        switch state.withLock({ $0.behavior }) {
        case .drops: return
        case .writesGarbage: return writeGarbage(to: client)
        case .forwards, .stops: break
        }
        guard let hub = try? LoopbackSocket.connected(to: port) else { return }
        state.withLock { $0.sockets += [client, hub] }
        Thread.detachNewThread { self.forward(from: client, to: hub) { _ in } }
        Thread.detachNewThread { self.forward(from: hub, to: client) { self.writeGarbage(to: $0) } }
    }

    private func writeGarbage(to client: LoopbackSocket) {
        _ = client.write((0..<4096).map { _ in UInt8.random(in: 0...255) } + Array("\r\nMSG a 1 -5\r\n".utf8))
    }

    private func forward(
        from source: LoopbackSocket, to destination: LoopbackSocket, garbage: (LoopbackSocket) -> Void
    ) {
        while true {
            let bytes = source.read()
            changed.lock()
            while state.withLock({ $0.behavior }) == .stops { changed.wait() }
            changed.unlock()
            let behavior = state.withLock { $0.behavior }
            if behavior == .writesGarbage { garbage(destination) }
            guard behavior == .forwards, !bytes.isEmpty, destination.write(bytes) else { break }
        }
        for socket in [source, destination] { socket.shutDown() }
        state.withLock { $0.sockets.removeAll { $0 === source || $0 === destination } }
    }
}
