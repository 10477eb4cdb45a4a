internal import ChildProcesses
internal import DistributedNotifications
internal import Foundation
internal import Glibc

/// A server directory for one scenario. `remove()` ends its servers and deletes the directory.
final class TemporaryServerPlace {
    let place: ServerPlace
    private var servers: [ProcessHandle] = []

    /// The directory is in `/tmp` and not in `TMPDIR`, because a socket's path has at most 107 bytes. Its name holds
    /// the id of the process that made it.
    init() throws(ScenarioError) {
        var template = Array("/tmp/notify-demo-\(getpid())-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw .child(problem: "no directory could be made in /tmp: \(String(cString: strerror(errno)))")
        }
        place = ServerPlace(
            directory: String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    /// The server that a center is connected to. `remove()` ends it.
    func server(of center: DistributedCenter) throws(ScenarioError) -> ProcessHandle {
        guard case .connected(let process) = center.connectionState, let server = handle(process) else {
            throw .child(problem: "there is no server: \(center.connectionState)")
        }
        return server
    }

    private func handle(_ process: Int32) -> ProcessHandle? {
        if let known = servers.first(where: { $0.id == process }) { return known }
        guard process > 1, process != getpid(), let server = ProcessHandle(process) else { return nil }
        servers.append(server)
        return server
    }

    /// Call this when no center uses the directory.
    func remove() {
        // A scenario that failed may have started a server that `server(of:)` has not seen.
        if let status = try? DistributedCenter.status(of: place, timeout: .seconds(2)) { _ = handle(status.processID) }
        for server in servers {
            server.kill()
            _ = server.waitUntilEnded(timeout: .seconds(5))
        }
        try? FileManager.default.removeItem(atPath: place.directory)
    }
}
