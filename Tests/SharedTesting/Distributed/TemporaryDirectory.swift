package import DistributedNotifications
internal import Foundation
internal import Glibc
internal import XCTest

/// A temporary directory for a server. The deinit removes the directory, so that no client can start another server
/// there, and then ends the server that runs.
package final class TemporaryDirectory: Sendable {
    /// The parent of the server's directory.
    package let parent: String
    package let directory: ServerDirectory

    package init() throws {
        parent = "/tmp/directory-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: false)
        directory = ServerDirectory(path: "\(parent)/distributed-notifications")
    }

    /// The server, which is another process. Starts it if there is none.
    package func startServer() throws -> ObservedProcess {
        let server = try XCTUnwrap(try ServerStart.connect(to: directory, timeout: TestTimeout.hang).peer).process
        try require(server != getpid())
        return ObservedProcess(server)
    }

    package func status() throws -> ServerStatus {
        try XCTUnwrap(try DistributedCenter.status(of: directory, timeout: TestTimeout.hang))
    }

    /// The client with a name.
    package func client(_ name: String) throws -> ServerStatus.Client {
        let client = try status().clients.first { $0.name == name }
        guard let client else { throw RawPeer.Problem.ended(.end) }
        return client
    }

    /// Ends a server, and waits until it is gone.
    package func end(_ server: Int32) { ObservedProcess(server).end() }

    deinit {
        let served = try? ServerStart.connectIfServed(directory, timeout: TestTimeout.hang)
        try? FileManager.default.removeItem(atPath: parent)
        if let server = served?.peer?.process, server != getpid() { end(server) }
    }
}
