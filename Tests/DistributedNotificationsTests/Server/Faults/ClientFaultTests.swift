import CLinux
import Foundation
import Glibc
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// Clients that are killed or forked, that belong to another user, or that have other rights.
final class ClientFaultTests: XCTestCase {
    private let temporary: TemporaryDirectory! = try? TemporaryDirectory()

    /// The stages at which a client is killed.
    private enum Stage: CaseIterable {
        case beforeHello, withinAFrame, afterGoodbye, refused, withUnreadNotifications, withHeldNotifications

        /// - Returns: a process that holds the connection.
        func process(in directory: ServerDirectory, poster: RawPeer) throws -> ObservedProcess {
            let peer = try RawPeer(
                directory, name: self == .beforeHello ? nil : "peer", suspended: self == .withHeldNotifications)
            switch self {
            case .beforeHello: break
            case .withinAFrame: try peer.write([60, 0, 0])
            case .afterGoodbye: try peer.frame(.farewell)
            case .refused: try peer.write([0, 0, 0, 0])
            case .withUnreadNotifications, .withHeldNotifications:
                try peer.register(1, name: "n")
                try peer.synchronize()
                // More than a socket takes.
                try poster.post("n", numbers: 0..<10, byteCount: 50_000)
                try poster.synchronize()
            }
            let holder = Process()
            holder.executableURL = URL(filePath: "/bin/sleep")
            holder.arguments = ["600"]
            let connection = FileHandle(fileDescriptor: dup(peer.socket.descriptor))
            holder.standardInput = connection
            try holder.run()
            try connection.close()
            return ObservedProcess(holder.processIdentifier)
        }
    }

    /// `SOAK=600` repeats it for ten minutes, and prints the figures.
    func testAClientThatIsKilledAtAnyStageLeavesNothingBehind() throws {
        let seconds = ProcessInfo.processInfo.environment["SOAK"].flatMap { Int($0) } ?? 0
        let server = try temporary.startServer()
        let poster = try RawPeer(temporary.directory, name: "poster")
        func perform(_ rounds: Int, until end: SuspendingClock.Instant) throws -> [Int] {
            var count = 0
            while count < rounds || SuspendingClock.now < end {
                for stage in Stage.allCases { try stage.process(in: temporary.directory, poster: poster).end() }
                count += 1
            }
            XCTAssertTrue(try eventually { try temporary.status().clients.map(\.name) == ["poster"] })
            XCTAssertEqual(try temporary.status().heldEntries, 0)
            return [server.residentBytes >> 10, server.dataBytes >> 10]
        }
        let before = try perform(5, until: .now + .seconds(seconds / 10))
        let after = try perform(30, until: .now + .seconds(seconds))
        if seconds > 0 { print("KiB resident and private: \(before) before, \(after) after") }
        for (before, after) in zip(before, after) { XCTAssertLessThan(after - before, 4 << 10) }
        // The connection of the last question may still be open.
        XCTAssertTrue(eventually { server.descriptors <= 10 })
    }

    func testPostsOfAClientThatHasEndedAreDelivered() throws {
        let server = try ServerInThisProcess(temporary)
        let observer = try RawPeer(temporary.directory, name: "observer", observing: "n")
        for round in 0..<20 {
            do {
                let poster = try RawPeer(temporary.directory, name: "poster")
                // It gets what it posts, and does not read it.
                try poster.register(1, name: "n")
                try poster.post("n", numbers: 0..<1000)
            }
            for number in 0..<1000 { XCTAssertEqual(try observer.delivered().number, number, "round \(round)") }
        }
        withExtendedLifetime(server) {}
    }

    func testAForkedCopyOfAClientGetsAnErrorAndItsParentContinues() throws {
        _ = try temporary.startServer()
        let directory = temporary.directory
        let center = try DistributedCenter(directory: directory, postTimeout: TestTimeout.hang)
        let received = Awaited(0)
        let observer = try center.addObserver(forName: .numbered, on: TargetThread.postingThread) { _ in
            received.withLock { $0 += 1 }
        }
        try center.synchronize(timeout: TestTimeout.hang)
        // Safety: glibc's fork, which Swift's module hides because of what may follow: here the copy only posts and
        // ends.
        let fork = unsafeBitCast(try XCTUnwrap(dlsym(nil, "fork")), to: (@convention(c) () -> Int32).self)
        let copy = fork()
        if copy == 0 {
            alarm(20)
            // Each of these may wait for a lock or a thread that is not there, so that the alarm ends it.
            center.suspend()
            observer.cancel()
            center.close()
            let posts = [
                { try center.post(name: .numbered) },
                { try DistributedCenter(directory: directory, postTimeout: TestTimeout.hang).post(name: .numbered) },
            ]
            for (index, post) in posts.enumerated() {
                do { try post() } catch { if error as? DistributedError == .processForked { continue } }
                _exit(Int32(index + 1))
            }
            _exit(0)
        }
        var status: Int32 = -1
        waitpid(copy, &status, 0)
        XCTAssertEqual(status, 0)
        try center.post(name: .numbered)
        XCTAssertTrue(received.wait { $0 == 1 })
        XCTAssertFalse(center.isSuspended)
        withExtendedLifetime(observer) {}
    }

    func testAnotherUsersProcessIsRefusedBeforeItIsRead() throws {
        try XCTSkipUnless(OtherUser.isPossible, OtherUser.condition)
        let server = try ServerInThisProcess(temporary)
        let directory = temporary.directory
        for (path, mode) in [(temporary.parent, 0o755), (directory.path, 0o755), (directory.socketPath, 0o777)] {
            chmod(path, mode_t(mode))
        }
        let reason = OtherUser.perform { () -> String? in
            let attempt = try? LocalSocket.connect(to: directory.socketPath, until: .now + TestTimeout.hang)
            guard let socket = attempt ?? nil else { return nil }
            return try? RawPeer(socket).farewell()
        }
        XCTAssertEqual(reason, "it belongs to user 65534, and this server to user 0")
        XCTAssertEqual(server.lines(" connected"), [])
    }

    /// The environment may come from another user.
    func testAProgramWithOtherRightsStartsNoServerIgnoresTheEnvironmentAndIsNone() throws {
        try XCTSkipUnless(OtherUser.isPossible, OtherUser.condition)
        let (directory, program) = (temporary.directory, "\(try Shell.directory())/notification-server")
        chown(temporary.parent, OtherUser.number, gid_t.max)
        setenv("XDG_RUNTIME_DIR", temporary.parent, 1)
        defer { unsetenv("XDG_RUNTIME_DIR") }
        let problem = OtherUser.perform { () -> String in
            guard ServerDirectory.default.path == "/tmp/distributed-notifications-65534" else { return "the variable" }
            do throws(DistributedError) {
                _ = try ServerStart.connect(to: directory, timeout: TestTimeout.hang)
                return ""
            } catch { return error.cause ?? "" }
        }
        XCTAssertEqual(problem?.contains("real and effective ids that differ"), true, problem ?? "")
        XCTAssertEqual(problem?.hasSuffix("Start one as user 65534: notification-server"), true, problem ?? "")
        let answer = OtherUser.perform { () -> String? in
            guard faccessat(AT_FDCWD, program, X_OK, AT_EACCESS) == 0 else { return nil }
            let (server, output) = (Process(), Pipe())
            server.executableURL = URL(filePath: "/bin/bash")
            server.arguments = ["-pc", "exec -a notification-server \(program) --on-demand \(directory.path) 2>&1"]
            server.standardOutput = output
            try? server.run()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            server.waitUntilExit()
            return "\(server.terminationStatus) \(text)"
        }
        guard case let answer?? = answer else { throw XCTSkip("the other user cannot execute the server") }
        XCTAssertTrue(answer.hasPrefix("\(EX_NOPERM) gained rights when it was executed"), answer)
    }
}
