import Foundation
import Glibc
import Testing
import ThreadedNotifications

@testable import DistributedNotifications

/// A place of a test's own; its directory is made and removed, and the servers that were met there are ended.
final class TemporaryPlace: Sendable {
    /// The directory above the place's.
    let parent: String
    let place: ServerPlace
    private let servers = Locked(Set<Int32>())

    init() throws {
        parent = "/tmp/place-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: false)
        place = ServerPlace(directory: "\(parent)/notify-demo")
    }

    /// Connects, and notes the server to end it.
    func connect(limit: Duration = TestLimit.hang) throws -> (server: Int32, started: Bool, socket: LocalSocket) {
        let (socket, started) = try ServerStart.connect(to: place, limit: limit)
        let server = try #require(socket.peer).process
        try #require(server != getpid())
        note(server)
        return (server, started, socket)
    }

    /// Has a server ended that another process met here.
    func note(_ server: Int32) {
        servers.withLock { _ = $0.insert(server) }
    }

    /// The processes that were met.
    var metServers: Set<Int32> { servers.withLock { $0 } }

    /// Ends a server, and waits until it is gone.
    func end(_ server: Int32) {
        ServerProcess(server).end()
        servers.withLock { _ = $0.remove(server) }
    }

    deinit {
        for server in metServers { end(server) }
        try? FileManager.default.removeItem(atPath: parent)
    }
}
