import Foundation
import Glibc
import SharedTesting
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

final class ServerResourcesTests: XCTestCase {
    private let temporary: TemporaryDirectory! = try? TemporaryDirectory()

    func testAServerRaisesTheSoftLimitsThatItInherits() throws {
        var before: [(Int32, rlimit)] = []
        defer { for (resource, var limit) in before { setrlimit(resource, &limit) } }
        for (resource, soft) in [(RLIMIT_NOFILE, 512), (RLIMIT_CPU, 100_000)] as [(__rlimit_resource, rlim_t)] {
            var limit = rlimit()
            getrlimit(Int32(resource.rawValue), &limit)
            before.append((Int32(resource.rawValue), limit))
            limit.rlim_cur = soft
            XCTAssertEqual(setrlimit(Int32(resource.rawValue), &limit), 0)
        }
        let server = try temporary.startServer()
        try RawPeer(temporary.directory).synchronize()
        let limits = try String(contentsOfFile: "/proc/\(server.id)/limits", encoding: .utf8).split(separator: "\n")
        for (name, wanted) in [("Max cpu time", Int.max), ("Max open files", ServerLimits().clients + 64)] {
            let line = try XCTUnwrap(limits.first { $0.hasPrefix(name) })
            let soft = line.dropFirst(name.count).split(separator: " ").prefix(2).map { Int($0) ?? .max }
            XCTAssertEqual(soft[0], min(soft[1], wanted), name)
        }
    }

    func testAServerServesAsManyClientsAsItMayHaveFilesOpenAndRefusesOthersWithTheReason() throws {
        let server = Process()
        server.executableURL = URL(filePath: "/bin/bash")
        let program = "\(try Shell.directory())/notification-server"
        server.arguments = ["-c", "ulimit -n 24; exec \(program) --directory \(temporary.directory.path)"]
        server.standardError = FileHandle.nullDevice
        try server.run()
        var served: [RawPeer] = []
        XCTAssertTrue(
            eventually {
                served = [try? RawPeer(temporary.directory, observing: "n")].compactMap(\.self)
                return !served.isEmpty
            })
        for _ in 1..<8 { served.append(try RawPeer(temporary.directory, observing: "n")) }
        for _ in 0..<20 {
            let reason = try RawPeer(temporary.directory, name: nil).farewell()
            XCTAssertEqual(
                reason,
                "8 processes are connected, and no more may be (ServerLimits.clients, ulimit -Hn). Let some end")
        }
        try served[0].write(RawPeer.post("n", number: 5))
        for peer in served { XCTAssertEqual(try peer.delivered().number, 5) }
        // One goes, and there is room for one.
        served.removeLast()
        XCTAssertTrue(eventually { (try? RawPeer(temporary.directory)) != nil })
        served = []
        ObservedProcess(server.processIdentifier).end()
    }
}
