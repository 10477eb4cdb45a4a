import Foundation
import Glibc
import SharedTesting
import XCTest

@testable import DistributedNotifications

/// The server as it is built for release: an optimised build kept memory that a debug build frees.
final class ReleasedServerTests: XCTestCase {
    private func startServer(_ temporary: FaultDirectory) throws -> ObservedProcess {
        guard let program = ProcessInfo.processInfo.environment["RELEASED_SERVER"] else {
            throw XCTSkip("RELEASED_SERVER does not name a release build of the server; Scripts/test.sh makes one")
        }
        setenv(ServerProgram.variable, program, 1)
        defer { unsetenv(ServerProgram.variable) }
        return try temporary.startServer()
    }

    /// The ways in which a client goes.
    private enum Departure: String, CaseIterable {
        case goodbye, withinAFrame, beforeHello, refused, withUnreadNotifications, withHeldNotifications

        func perform(in directory: ServerDirectory, poster: RawPeer) throws {
            let peer = try RawPeer(
                directory, name: self == .beforeHello ? nil : "peer", suspended: self == .withHeldNotifications)
            switch self {
            case .goodbye:
                try peer.synchronize()
                try peer.frame(.farewell)
                XCTAssertEqual(try peer.next(), .end)
            case .withinAFrame: try peer.write([60, 0, 0])
            case .beforeHello: break
            case .refused:
                try peer.write([0, 0, 0, 0])
                _ = try peer.farewell()
            case .withUnreadNotifications, .withHeldNotifications:
                try peer.register(1, name: "n")
                try peer.synchronize()
                // More than a socket takes.
                try poster.post("n", numbers: 0..<10, byteCount: 50_000)
                try poster.synchronize()
            }
        }
    }

    /// Runs for as many seconds as `SOAK` says, and prints its figures.
    func testDescriptorsAndMemoryStayFlatWhileClientsComeAndGo() throws {
        guard let seconds = ProcessInfo.processInfo.environment["SOAK"].flatMap({ Int($0) }) else {
            throw XCTSkip("SOAK=600 runs it for ten minutes; in a short run, how full the buffers were decides")
        }
        let temporary = try FaultDirectory()
        let server = try startServer(temporary)
        let poster = try RawPeer(temporary.directory, name: "poster")
        let observer = try RawPeer(temporary.directory, name: "observer")
        try observer.register(1, name: "n")
        let suspended = try RawPeer(temporary.directory, name: "suspended")
        for (number, behavior) in SuspensionBehavior.allCases.filter({ $0 != .deliverImmediately }).enumerated() {
            try suspended.register(UInt32(number), name: "n", behavior: behavior)
        }
        var (rounds, posts) = (0, 0)
        func perform(until end: SuspendingClock.Instant) throws {
            repeat {
                try suspended.setSuspended(rounds % 10 != 9)
                for departure in Departure.allCases { try departure.perform(in: temporary.directory, poster: poster) }
                try poster.post("n", numbers: posts..<posts + 500)
                try poster.synchronize()
                for peer in [observer, suspended] { try peer.synchronize() }
                (rounds, posts) = (rounds + 1, posts + 500)
            } while SuspendingClock.now < end
        }
        func descriptors() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/\(server.id)/fd").count
        }
        func figures() throws -> (descriptors: Int, resident: Int, data: Int) {
            try suspended.setSuspended(false)
            for peer in [observer, suspended] { try peer.synchronize() }
            XCTAssertTrue(try eventually { try temporary.status().clients.count == 3 })
            return (try descriptors(), server.residentBytes, server.dataBytes)
        }
        try perform(until: .now + .seconds(max(1, seconds / 10)))
        let before = try figures()
        try perform(until: .now + .seconds(seconds))
        let after = try figures()
        print("soak: \(seconds) s, \(rounds) rounds, \(try temporary.status().posted) posts: \(before) → \(after)")
        // The connection of the last question may still be open.
        XCTAssertTrue(try eventually { try descriptors() <= before.descriptors })
        XCTAssertLessThan(after.resident - before.resident, 2 << 20)
        XCTAssertLessThan(after.data - before.data, 2 << 20)
    }

    func testAClientThatHasGoneLeavesNoMemoryBehind() throws {
        let temporary = try FaultDirectory()
        let server = try startServer(temporary)
        let poster = try RawPeer(temporary.directory, name: "poster")
        for departure in Departure.allCases {
            func repeated(_ count: Int) throws {
                for _ in 0..<count { try departure.perform(in: temporary.directory, poster: poster) }
                // Those that went before it are no clients any more.
                _ = try temporary.status()
            }
            try repeated(20)
            let before = (resident: server.residentBytes, data: server.dataBytes)
            let count = departure == .goodbye ? 2000 : 100
            try repeated(count)
            for (kind, grown) in [
                ("VmRSS", server.residentBytes - before.resident), ("VmData", server.dataBytes - before.data),
            ] {
                XCTAssertLessThan(
                    grown, 4 << 20, "\(kind) grew by \(grown >> 10) KiB with \(count) clients: \(departure)")
            }
        }
    }
}
