package import DistributedNotifications
internal import Foundation
internal import Glibc
internal import ThreadedNotifications
internal import XCTest

/// A temporary directory for a server. The deinit removes it, and ends the servers that the test connected to.
package final class TemporaryDirectory: Sendable {
    /// The parent of the server's directory.
    package let parent: String
    package let directory: ServerDirectory
    private let servers = Locked(Set<Int32>())

    package init() throws {
        parent = "/tmp/directory-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: false)
        directory = ServerDirectory(path: "\(parent)/distributed-notifications")
    }

    /// Connects, and notes the server so that the deinit ends it.
    package func connect(limit: Duration = TestTimeout.hang) throws -> (
        server: Int32, started: Bool, socket: LocalSocket
    ) {
        let (socket, started) = try ServerStart.connect(to: directory, timeout: limit)
        let server = try XCTUnwrap(socket.peer).process
        try require(server != getpid())
        note(server)
        return (server, started, socket)
    }

    /// Notes a server that another process connected to, so that the deinit ends it.
    package func note(_ server: Int32) {
        servers.withLock { _ = $0.insert(server) }
    }

    /// The servers that were noted.
    package var metServers: Set<Int32> { servers.withLock { $0 } }

    /// Ends a server, and waits until it is gone.
    package func end(_ server: Int32) {
        ObservedProcess(server).end()
        servers.withLock { _ = $0.remove(server) }
    }

    deinit {
        for server in metServers { end(server) }
        try? FileManager.default.removeItem(atPath: parent)
    }
}
