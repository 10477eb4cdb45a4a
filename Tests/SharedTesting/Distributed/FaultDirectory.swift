package import DistributedNotifications
internal import Foundation
internal import Glibc
internal import XCTest

/// A temporary directory for a server. The deinit removes the directory, so that no client can start another server
/// there, and then ends the server process.
package final class FaultDirectory: Sendable {
    private let parent: String
    package let directory: ServerDirectory

    package init() throws {
        parent = "/tmp/fault-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: false)
        directory = ServerDirectory(path: "\(parent)/directory")
    }

    /// Returns the server process for this directory; starts it if there is none.
    package func startServer() throws -> ObservedProcess {
        let (socket, _) = try ServerStart.connect(to: directory, timeout: TestTimeout.hang)
        let process = try XCTUnwrap(socket.peer).process
        try XCTSkipIf(process == getpid(), "the server is no process of its own")
        return ObservedProcess(process)
    }

    package func status() throws -> ServerStatus {
        try XCTUnwrap(try DistributedCenter.status(of: directory, timeout: TestTimeout.hang))
    }

    /// Changes the owner to user 65534; requires root.
    package func giveToNobody() {
        chown(parent, OtherUser.number, gid_t.max)
    }

    /// The parent of the server's directory.
    package var directoryAbove: String { parent }

    /// Allows other users to connect to the socket.
    package func openToOthers() {
        chmod(parent, 0o755)
        chmod(directory.path, 0o755)
        chmod(directory.socketPath, 0o777)
    }

    deinit {
        let served = try? ServerStart.connectIfServed(directory, timeout: TestTimeout.hang)
        try? FileManager.default.removeItem(atPath: parent)
        if let server = served?.peer?.process, server != getpid() { ObservedProcess(server).end() }
    }
}
