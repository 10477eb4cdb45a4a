internal import DistributedNotifications
internal import Foundation
internal import Glibc

/// A place that nobody else uses; its server is ended and its directory removed when the scenario is over.
final class TemporaryServerPlace {
    let place: ServerPlace
    private var servers: [ProcessHandle] = []

    /// Not in `TMPDIR`: a socket's path has 107 bytes at most. The name tells which process has made it.
    init() throws(ScenarioError) {
        var template = Array("/tmp/notify-demo-\(getpid())-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw .child(problem: "no directory could be made in /tmp: \(String(cString: strerror(errno)))")
        }
        place = ServerPlace(
            directory: String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    /// The server that a center is connected to, which is ended with the place.
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

    /// When no center uses it any more.
    func remove() {
        // There may be one that nobody has told of, if the scenario has failed.
        if let status = try? DistributedCenter.status(of: place, limit: .seconds(2)) { _ = handle(status.processID) }
        for server in servers {
            server.kill()
            _ = server.waitUntilEnded(limit: .seconds(5))
        }
        try? FileManager.default.removeItem(atPath: place.directory)
    }
}
