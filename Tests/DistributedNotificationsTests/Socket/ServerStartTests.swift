import DistributedTesting
import Foundation
import Glibc
import SharedTesting
import Testing
import ThreadedNotifications

@testable import DistributedNotifications

struct ServerStartTests {
    let temporary: TemporaryPlace
    var place: ServerPlace { temporary.place }

    init() throws {
        temporary = try TemporaryPlace()
    }

    /// Why connecting failed, without the path; nil if it did not.
    func failure(timeout: Duration = TestTimeout.hang) -> String? {
        do throws(DistributedError) {
            _ = try ServerStart.connect(to: place, timeout: timeout)
            return nil
        } catch  where error.code == .placeNotUsable {
            return "placeNotUsable \(error.path?.dropFirst(place.directory.count + 1) ?? ""): \(error.problem)"
        } catch {
            return "\(error.code): \(error.problem)"
        }
    }

    @Test func theFirstClientStartsAServerAndTheNextUsesIt() throws {
        let first = try temporary.connect()
        let second = try temporary.connect()
        #expect(first.started)
        #expect(!second.started)
        #expect(first.server == second.server)
    }

    @Test func theServerInheritsNeitherSessionNorDescriptors() throws {
        let server = try temporary.connect().server
        let proc = "/proc/\(server)"
        let stat = try String(contentsOfFile: "\(proc)/stat", encoding: .utf8)
        let fields = try #require(stat.split(separator: ")").last).split(separator: " ").compactMap { Int32($0) }
        // Parent, process group, session, terminal.
        #expect(fields[0] != getpid())
        #expect(fields[2] != getsid(0) && fields[2] != server)
        #expect(fields[3] == 0)
        let arguments = try Data(contentsOf: URL(fileURLWithPath: "\(proc)/cmdline")).split(separator: 0)
        #expect(
            arguments.map { String(decoding: $0, as: UTF8.self) }
                == ServerHandover.arguments(directory: place.directory))
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "\(proc)/cwd") == "/")
        let open = try FileManager.default.contentsOfDirectory(atPath: "\(proc)/fd").compactMap { Int($0) }.sorted()
        #expect(open.starts(with: [0, 1, 2, 3]))
        for standard in 0...2 {
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "\(proc)/fd/\(standard)") == "/dev/null")
        }
    }

    @Test func clientsThatBeginTogetherUseOneServer() throws {
        let servers = Locked([Int32]())
        let starts = Locked(0)
        let temporary = temporary
        DispatchQueue.concurrentPerform(iterations: 40) { _ in
            guard let connection = try? temporary.connect() else { return }
            servers.withLock { $0.append(connection.server) }
            if connection.started { starts.withLock { $0 += 1 } }
        }
        #expect(servers.withLock { $0.count } == 40)
        #expect(Set(servers.withLock { $0 }).count == 1)
        #expect(starts.withLock { $0 } == 1)
    }

    @Test func theSocketOfAKilledServerIsReplaced() throws {
        let first = try temporary.connect()
        temporary.end(first.server)
        #expect(access(place.socketPath, F_OK) == 0)
        // A process that another test starts meanwhile may have a copy of the listening socket, until it runs its
        // program.
        #expect(try eventually { try ServerStart.connectIfServed(place, timeout: TestTimeout.hang) == nil })
        let second = try temporary.connect()
        #expect(second.started)
        #expect(first.server != second.server)
    }

    @Test func aLockFileThatIsNotLockedIsIgnored() throws {
        try place.prepare()
        try Data("4711".utf8).write(to: URL(fileURLWithPath: place.lockPath))
        #expect(try temporary.connect().started)
    }

    @Test func waitingForTheLockTimesOut() throws {
        try place.prepare()
        let lock = try #require(try PlaceLock.take(place, until: .now))
        #expect(
            failure(timeout: .milliseconds(50))?.hasPrefix(
                "serverNotStarted: another process has had \(place.lockPath) locked for 0.05") == true)
        withExtendedLifetime(lock) {}
    }

    @Test func aFileThatIsNotASocketIsNotRemoved() throws {
        try place.prepare()
        try Data("mine".utf8).write(to: URL(fileURLWithPath: place.socketPath))
        let problem = "it is no socket, so it is no server's, and is left alone. See what it is, and move it away"
        #expect(failure() == "placeNotUsable socket: \(problem)")
        #expect(throws: DistributedError.placeNotUsable(path: place.socketPath, problem: problem)) {
            try ServerStart.connectIfServed(place, timeout: TestTimeout.hang)
        }
        #expect(try String(contentsOfFile: place.socketPath, encoding: .utf8) == "mine")
    }

    @Test func lookingForAServerCreatesNothing() throws {
        #expect(try ServerStart.connectIfServed(place, timeout: TestTimeout.hang) == nil)
        #expect(access(place.directory, F_OK) != 0)
        let server = try temporary.connect().server
        #expect(try ServerStart.connectIfServed(place, timeout: TestTimeout.hang)?.peer?.process == server)
    }

    @Test func waitingForAServerThatDoesNotAcceptTimesOut() throws {
        try place.prepare()
        let listener = try LocalSocket.bound(at: place.socketPath)
        #expect(Glibc.listen(listener.descriptor, 0) == 0)
        var waiting: [LocalSocket] = []
        while case .connected(let socket) = try LocalSocket.connect(to: place.socketPath, until: .now) {
            waiting.append(socket)
            try #require(waiting.count < 100)
        }
        #expect(
            failure(timeout: .milliseconds(50))?.hasPrefix(
                "serverNotStarted: there is one, but it has accepted nobody for 0.05") == true)
        #expect(access(place.socketPath, F_OK) == 0)
    }

    @Test(.enabled(if: OtherUser.isPossible, OtherUser.condition))
    func anotherUsersServerIsRefused() throws {
        try place.prepare()
        let listener = try LocalSocket.bound(at: place.socketPath)
        // The process that called listen is the peer.
        #expect(OtherUser.perform { listener.listen() } == true)
        #expect(
            failure()
                == "placeNotUsable socket: process \(getpid()) of user 65534 serves there, and this process runs as "
                + "user 0: it is not trusted. Use another directory")
    }

    @Test func aProgramWithOthersRightsIsToldToStartAServerAsItsUser() {
        let problem = ServerStart.othersRightsProblem(user: 7)
        #expect(problem.contains("ids that differ"))
        #expect(problem.hasSuffix("Start one as user 7: notification-server"))
    }

    @Test(arguments: [
        (ServerProcess.Outcome.ended(status: 64 << 8, output: ""), "ended at once with status 64."),
        (.ended(status: 71 << 8, output: "one\ntwo\n"), "ended at once with status 71: one; two."),
        (.ended(status: SIGSEGV, output: ""), "was ended at once by signal 11."),
        (.ended(status: nil, output: ""), "ended at once."),
        (.timedOut(output: "busy\n"), "was not ready within 5.0 seconds, and was ended: busy."),
        (.failed(call: "executing it", error: EACCES), "was not started: executing it failed: Permission denied."),
    ])
    func theErrorSaysWhatBecameOfTheProgram(outcome: ServerProcess.Outcome, text: String) {
        #expect(
            ServerStart.problem(of: outcome, program: "/bin/x", timeout: .seconds(5))
                == "/bin/x, started as the server, \(text) See what one says in another terminal: notification-server")
    }
}
