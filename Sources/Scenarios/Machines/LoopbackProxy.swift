internal import Foundation
internal import Glibc
internal import ThreadedNotifications

/// A network on 127.0.0.1, between NATS and its clients, that can fail.
///
/// Threads: one that accepts connections, and two for each connection, which end with it.
final class LoopbackProxy: Sendable {
    enum Behavior: Sendable {
        case forwards
        /// Bytes are held.
        case stops
        /// Connections end, and new ones end at once.
        case drops
        /// Both sides read what is not NATS's protocol.
        case garbles
    }

    let port: Int
    private let listener: Int32
    /// The sockets of all connections are closed with this value.
    private let state = Locked((behavior: Behavior.forwards, sockets: [Int32]()))

    /// - Parameter hub: the port of NATS.
    init(to hub: Int) throws {
        (listener, port) = try Self.open(nil)
        Thread.detachNewThread { [self] in
            while case let client = accept(listener, nil, nil), client >= 0 {
                _ = fcntl(client, F_SETFD, FD_CLOEXEC)
                guard behavior != .drops, let server = try? Self.open(hub).socket else {
                    close(client)
                    continue
                }
                state.withLock { $0.sockets += [client, server] }
                Thread.detachNewThread { self.forward(from: client, to: server) }
                Thread.detachNewThread { self.forward(from: server, to: client) }
            }
        }
    }

    deinit { for socket in state.withLock({ $0.sockets }) + [listener] { close(socket) } }

    /// Ends the listener, and all connections.
    func end() {
        shutdown(listener, Int32(SHUT_RDWR))
        behavior = .drops
    }

    var behavior: Behavior {
        get { state.withLock { $0.behavior } }
        set {
            state.withLock { state in
                state.behavior = newValue
                if newValue == .drops { for socket in state.sockets { shutdown(socket, Int32(SHUT_RDWR)) } }
            }
        }
    }

    private func forward(from source: Int32, to destination: Int32) {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = recv(source, &buffer, buffer.count, 0), count > 0 {
            while behavior == .stops { usleep(2000) }
            if behavior == .garbles { for index in 0..<count { buffer[index] = .random(in: 0...255) } }
            guard behavior != .drops, send(destination, buffer, count, Int32(MSG_NOSIGNAL)) == count else { break }
        }
        for socket in [source, destination] { shutdown(socket, Int32(SHUT_RDWR)) }
    }

    /// - Parameter peer: the port to connect to; nil: the socket listens on a free one.
    private static func open(_ peer: Int?) throws -> (socket: Int32, port: Int) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var (address, size) = (sockaddr(), socklen_t(MemoryLayout<sockaddr>.size))
        address.sa_family = sa_family_t(AF_INET)
        let port = UInt16(peer ?? 0)
        withUnsafeMutableBytes(of: &address.sa_data) { data in
            data.copyBytes(from: [UInt8(port >> 8), UInt8(port & 0xFF), 127, 0, 0, 1])
        }
        if (peer == nil ? bind : connect)(descriptor, &address, size) == 0, peer != nil || listen(descriptor, 64) == 0,
            getsockname(descriptor, &address, &size) == 0
        {
            return (descriptor, withUnsafeBytes(of: address.sa_data) { Int($0[0]) << 8 | Int($0[1]) })
        }
        let problem = "no socket on 127.0.0.1: \(String(cString: strerror(errno)))"
        close(descriptor)
        throw ScenarioError.machines(problem: problem)
    }
}
