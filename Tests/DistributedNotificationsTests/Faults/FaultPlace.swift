import Foundation
import Glibc
import XCTest

@testable import DistributedNotifications

/// A place of a test's own. When it goes, so does its directory, so that no client can start another server there, and then
/// the process that serves there.
final class FaultPlace: Sendable {
    private let parent: String
    let place: ServerPlace

    init() throws {
        parent = "/tmp/fault-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: false)
        place = ServerPlace(directory: "\(parent)/place")
    }

    /// The process that serves here; it is started if there is none.
    func startServer() throws -> ServerProcess {
        let (socket, _) = try ServerStart.connect(to: place, limit: TestLimit.hang)
        let process = try XCTUnwrap(socket.peer).process
        try XCTSkipIf(process == getpid(), "the server is no process of its own")
        return ServerProcess(process)
    }

    func status() throws -> ServerStatus {
        try XCTUnwrap(try DistributedCenter.status(of: place, limit: TestLimit.hang))
    }

    /// Gives it to the user nobody, which only root may.
    func giveToNobody() {
        chown(parent, FaultClientProgram.nobody, gid_t.max)
    }

    /// The directory above the place's.
    var directoryAbove: String { parent }

    /// Lets others than the user come to the socket, whom the directory keeps out.
    func openToOthers() {
        chmod(parent, 0o755)
        chmod(place.directory, 0o755)
        chmod(place.socketPath, 0o777)
    }

    deinit {
        let served = try? ServerStart.connectIfServed(place, limit: TestLimit.hang)
        try? FileManager.default.removeItem(atPath: parent)
        if let server = served?.peer?.process, server != getpid() { ServerProcess(server).end() }
    }
}

/// A process, and what the kernel says of it.
struct ServerProcess: Hashable {
    let id: Int32

    init(_ id: Int32) {
        self.id = id
    }

    /// Memory that is in use, in bytes.
    var residentBytes: Int {
        field("VmRSS:").map { $0 << 10 } ?? 0
    }

    /// What of it is its own: not files that are mapped.
    var ownBytes: Int {
        field("RssAnon:").map { $0 << 10 } ?? 0
    }

    /// How often it began to run again, by its own wish and not.
    var switches: Int? {
        guard let voluntary = field("voluntary_ctxt_switches:"), let other = field("nonvoluntary_ctxt_switches:") else {
            return nil
        }
        return voluntary + other
    }

    /// Processor time, in clock ticks.
    var ticks: Int? {
        let fields = fieldsAfterItsName
        guard fields.count > 12, let user = Int(fields[11]), let system = Int(fields[12]) else { return nil }
        return user + system
    }

    /// Whether it waits, and for nothing that comes by itself.
    var isSleeping: Bool { state == "S" }

    var isStopped: Bool { state == "T" }

    private var state: Substring? { fieldsAfterItsName.first }

    /// Of /proc/PID/stat; none if it is gone.
    private var fieldsAfterItsName: [Substring] {
        guard let text = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8) else { return [] }
        return text.split(separator: ")").last?.split(separator: " ") ?? []
    }

    private func field(_ name: String) -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8) else { return nil }
        for line in text.split(separator: "\n") where line.hasPrefix(name) {
            return line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) }
        }
        return nil
    }

    /// Whether it has ended, and all of its descriptors are closed.
    ///
    /// Its first thread may have ended, which makes it a zombie, while another one still has them.
    var isGone: Bool {
        let fields = fieldsAfterItsName
        guard fields.count > 17 else { return true }
        return kill(id, 0) != 0 || fields[0] == "Z" && fields[17] == "1"
    }

    /// Kills it, and waits until it is gone.
    func end() {
        kill(id, SIGKILL)
        _ = eventually { isGone }
    }

    /// How many descriptors it may have.
    func limitDescriptors(to count: UInt) throws {
        typealias Function =
            @convention(c) (
                Int32, UInt32, UnsafePointer<rlimit>?, UnsafeMutablePointer<rlimit>?
            ) -> Int32
        // Safety: glibc's prlimit, with the types that its manual gives; Swift's module does not show it.
        let prlimit = unsafeBitCast(try XCTUnwrap(dlsym(nil, "prlimit")), to: Function.self)
        var limit = rlimit()
        try XCTSkipIf(prlimit(id, RLIMIT_NOFILE.rawValue, nil, &limit) != 0, "limits of other processes are not shown")
        try XCTSkipIf(limit.rlim_max < count, "a process may have \(limit.rlim_max) descriptors at most")
        limit.rlim_cur = rlim_t(count)
        XCTAssertEqual(prlimit(id, RLIMIT_NOFILE.rawValue, &limit, nil), 0)
    }
}

/// Looks until it is so, for a limit.
func eventually(_ limit: Duration = TestLimit.hang, _ isSo: () throws -> Bool) rethrows -> Bool {
    let deadline = ContinuousClock.now + limit
    while ContinuousClock.now < deadline {
        if try isSo() { return true }
        usleep(500)
    }
    return try isSo()
}
