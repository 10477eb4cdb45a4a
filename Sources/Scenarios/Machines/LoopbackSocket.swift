internal import Foundation
internal import Glibc

/// A TCP socket on 127.0.0.1.
final class LoopbackSocket: Sendable {
    let descriptor: Int32

    /// - Parameter descriptor: is closed with this value.
    private init(owning descriptor: Int32) throws {
        guard descriptor >= 0 else {
            throw ScenarioError.machines(problem: "a socket: \(String(cString: strerror(errno)))")
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    convenience init() throws {
        try self.init(owning: socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0))
    }

    static func listening() throws -> LoopbackSocket {
        let socket = try LoopbackSocket()
        try socket.call(bind, port: 0)
        guard listen(socket.descriptor, 64) == 0 else { throw ScenarioError.machines(problem: "cannot listen") }
        return socket
    }

    static func connected(to port: Int) throws -> LoopbackSocket {
        let socket = try LoopbackSocket()
        try socket.call(Glibc.connect, port: port)
        return socket
    }

    private func call(
        _ function: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32, port: Int
    ) throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                function(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            throw ScenarioError.machines(problem: "port \(port) of 127.0.0.1: \(String(cString: strerror(errno)))")
        }
    }

    var port: Int {
        var (address, size) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
        _ = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// Waits for a connection.
    /// - Returns: nil after `shutDown`.
    func accept() -> LoopbackSocket? {
        let accepted = Glibc.accept(descriptor, nil, nil)
        _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
        return try? LoopbackSocket(owning: accepted)
    }

    /// Waits for bytes.
    /// - Returns: none at the end.
    func read(_ timeout: Duration? = nil) -> [UInt8] {
        if let timeout {
            var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&event, 1, Int32(timeout / .milliseconds(1))) > 0 else { return [] }
        }
        return [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, count in
            count = max(0, recv(descriptor, buffer.baseAddress, buffer.count, 0))
        }
    }

    /// - Returns: false if the connection has ended.
    func write(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Ends the connection, and what waits for it.
    func shutDown() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}
