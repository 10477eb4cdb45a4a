internal import Foundation
internal import Glibc

/// A child process that exchanges lines with the parent until its standard input is closed.
final class RunningChild {
    let processID: Int32
    /// Its standard input and output.
    private let socket: Int32
    private var unread: [UInt8] = []
    private var isWaitedFor = false

    /// - Throws: `ScenarioError.child`.
    init(_ program: ChildProgram, _ more: [String]) throws(ScenarioError) {
        var sockets: [Int32] = [-1, -1]
        guard
            socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &sockets) == 0
        else { throw .child(problem: "no socket could be made: \(String(cString: strerror(errno)))") }
        defer { close(sockets[1]) }
        var process: pid_t = 0
        let error = Self.spawn(program.path, program.arguments + more, sockets[1], &process)
        guard error == 0 else {
            close(sockets[0])
            throw .child(problem: "cannot run \(program.path): \(String(cString: strerror(error)))")
        }
        processID = process
        socket = sockets[0]
    }

    deinit {
        if !isWaitedFor {
            kill(processID, SIGKILL)
            _ = waitForEnd()
        }
        close(socket)
    }

    private static func spawn(_ path: String, _ arguments: [String], _ socket: Int32, _ process: inout pid_t) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, socket, 0)
        posix_spawn_file_actions_adddup2(&actions, socket, 1)
        var variables = ProcessInfo.processInfo.environment
        // The backtracer of a crashed process may hang and hold the output open.
        variables["SWIFT_BACKTRACE"] = "enable=no"
        var argv = ([path] + arguments).map { strdup($0) } + [nil]
        var environment = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for string in argv + environment { free(string) } }
        return posix_spawn(&process, path, &actions, nil, &argv, &environment)
    }

    /// - Parameter line: a line without its newline.
    func write(_ line: String) throws(ScenarioError) {
        var rest = Array("\(line)\n".utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                throw .child(problem: "ended before it had finished a command")
            }
        }
    }

    /// Blocks the calling thread until there is a line. Returns it without its newline, or nil at the end of the
    /// output.
    /// - Throws: `ScenarioError.timedOut`.
    func readLine(timeout: Duration) throws(ScenarioError) -> String? {
        let deadline = ContinuousClock.now + min(timeout, .seconds(86400))
        while true {
            if let end = unread.firstIndex(of: 0x0A) {
                defer { unread.removeFirst(end + 1) }
                return String(decoding: unread[..<end], as: UTF8.self)
            }
            let left = max(.zero, ContinuousClock.now.duration(to: deadline))
            var watched = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            let ready = poll(&watched, 1, Int32((left / .milliseconds(1)).rounded(.up)))
            if ready < 0, errno == EINTR { continue }
            guard ready > 0 else { throw .timedOut(waitingFor: "the second process", after: timeout) }
            var bytes = [UInt8](repeating: 0, count: 1 << 16)
            let count = recv(socket, &bytes, bytes.count, 0)
            if count > 0 {
                unread += bytes[..<count]
            } else if count == 0 || errno != EINTR {
                return nil
            }
        }
    }

    /// Closes the child's input and waits until it has ended. Kills it if that takes longer than `timeout`.
    ///
    /// - Parameter read: takes each remaining line of its output.
    func end(timeout: Duration, read: (String) -> Void) -> ChildProgram.Result.End {
        shutdown(socket, Int32(SHUT_WR))
        let handle = ProcessHandle(processID)
        do throws(ScenarioError) {
            while let line = try readLine(timeout: timeout) { read(line) }
            if handle?.waitUntilEnded(timeout: timeout) != true { kill(processID, SIGKILL) }
        } catch {
            kill(processID, SIGKILL)
        }
        return waitForEnd()
    }

    private func waitForEnd() -> ChildProgram.Result.End {
        isWaitedFor = true
        var status: Int32 = 0
        while waitpid(processID, &status, 0) < 0, errno == EINTR {}
        // WIFSIGNALED, WTERMSIG and WEXITSTATUS are macros that Swift does not import.
        let signal = status & 0x7F
        return signal == 0 ? .exit(status >> 8 & 0xFF) : .signal(signal)
    }
}
