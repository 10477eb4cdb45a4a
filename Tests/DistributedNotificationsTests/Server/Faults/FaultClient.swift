import Foundation
import Glibc
import SharedTesting
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// A client that is a process of its own: this program once more, which runs one test: `FaultClientProgram`. It is
/// killed when this goes, and ends by itself after two minutes.
final class FaultClient {
    /// The role of the client.
    enum Role: String {
        /// Observes `n` and `mark` on its main thread. Writes `ready` and the server's id, then a tally at each gap and
        /// mark.
        case observer
        /// Posts to itself, writes the server's id, and ends.
        case onlyOnce
        /// Forks; both post.
        case forker
        /// Connects as user 65534, writes, and reports the answer of the server.
        case stranger
        /// Lowers its effective user ID to 65534, reports its default directory, and posts.
        case lowered
        /// Lowers its effective user ID to 65534, and starts a server without the check of its rights.
        case copied
        /// Has hard limits that are too low for a server, and posts.
        case limited
        /// Has low soft limits, and posts to itself, as `onlyOnce`.
        case limitedSoftly
    }

    let process: ObservedProcess
    private let output: Int32
    private var unread: [UInt8] = []
    private static let limit = TestTimeout.hang

    enum Problem: Error {
        case notStarted(Int32)
        case late(String)
        case ended
    }

    /// - Parameters:
    ///   - variables: further ones of its environment.
    init(_ role: Role, at temporary: FaultDirectory, _ variables: [String: String] = [:]) throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw Problem.notStarted(errno) }
        output = ends[0]
        defer { close(ends[1]) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], FaultClientProgram.output)
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let arguments = [
            program, "DistributedNotificationsTests.FaultClientProgram/testIsAClientInAnotherProcess",
        ]
        var environment = ProcessInfo.processInfo.environment
        environment[FaultClientProgram.roleVariable] = role.rawValue
        environment[FaultClientProgram.placeVariable] = temporary.directory.path
        environment.merge(variables) { $1 }
        var words = arguments.map { strdup($0) } + [nil]
        var entries = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for word in words + entries { free(word) } }
        var id: pid_t = 0
        let error = posix_spawn(&id, program, &actions, nil, &words, &entries)
        guard error == 0 else {
            close(output)
            throw Problem.notStarted(error)
        }
        process = ObservedProcess(id)
    }

    func signal(_ number: Int32) {
        kill(process.id, number)
    }

    /// Stops it, and waits until it stands still.
    func stop() {
        signal(SIGSTOP)
        XCTAssertTrue(eventually { process.isStopped })
    }

    /// The next line that it writes.
    func line(limit: Duration = FaultClient.limit) throws -> String {
        let deadline = SuspendingClock.now + limit
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                defer { unread.removeSubrange(...end) }
                return String(decoding: unread[..<end], as: UTF8.self)
            }
            var descriptor = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            guard poll(&descriptor, 1, deadline.millisecondsFromNow) > 0 else {
                throw Problem.late(String(decoding: unread, as: UTF8.self))
            }
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = read(output, &bytes, bytes.count)
            guard count > 0 else { throw Problem.ended }
            unread += bytes.prefix(count)
        }
    }

    deinit {
        signal(SIGKILL)
        waitpid(process.id, nil, 0)
        close(output)
    }
}
