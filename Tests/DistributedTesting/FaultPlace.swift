package import DistributedNotifications
internal import Foundation
internal import Glibc
internal import SharedTesting
internal import XCTest

/// A temporary directory for a server. The deinit removes the directory, so that no client can start another server
/// there, and then ends the server process.
package final class FaultPlace: Sendable {
    private let parent: String
    package let place: ServerPlace

    package init() throws {
        parent = "/tmp/fault-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: false)
        place = ServerPlace(directory: "\(parent)/place")
    }

    /// Returns the server process for this directory; starts it if there is none.
    package func startServer() throws -> ObservedProcess {
        let (socket, _) = try ServerStart.connect(to: place, timeout: TestTimeout.hang)
        let process = try XCTUnwrap(socket.peer).process
        try XCTSkipIf(process == getpid(), "the server is no process of its own")
        return ObservedProcess(process)
    }

    package func status() throws -> ServerStatus {
        try XCTUnwrap(try DistributedCenter.status(of: place, timeout: TestTimeout.hang))
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
        chmod(place.directory, 0o755)
        chmod(place.socketPath, 0o777)
    }

    deinit {
        let served = try? ServerStart.connectIfServed(place, timeout: TestTimeout.hang)
        try? FileManager.default.removeItem(atPath: parent)
        if let server = served?.peer?.process, server != getpid() { ObservedProcess(server).end() }
    }
}
