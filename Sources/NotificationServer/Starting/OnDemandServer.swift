internal import CLinux
internal import DistributedNotifications
internal import Glibc

/// The life of a process that a client started as the server, see `ServerStart`.
enum OnDemandServer {
    /// Serves until no process has been connected for `ServerLimits.idleTimeout`.
    ///
    /// - Returns: the exit status, from <sysexits.h>; the reason of a failure is on standard error.
    static func run(_ path: String) -> Int32 {
        // A user must not be able to choose by arguments what a program with more rights does.
        if CLinuxRunsWithOthersRights() {
            return fail(
                EX_NOPERM,
                "gained rights when it was executed (set-user-id, set-group-id or file capabilities), and "
                    + "such a program never serves")
        }
        let directory = ServerDirectory(path: path)
        guard let socket = InheritedListener.description(of: ServerStart.listenerNumber),
            socket.path == directory.socketPath
        else { return fail(EX_USAGE, "descriptor \(ServerStart.listenerNumber) is not the socket of \(path)") }
        let listener = LocalSocket(owning: ServerStart.listenerNumber)
        _ = fcntl(listener.descriptor, F_SETFD, FD_CLOEXEC)
        umask(0o077)
        guard chdir("/") == 0 else { return fail(EX_OSERR, SystemError.text(errno)) }
        // It inherits the limits of the program that started it, but serves other programs too.
        for resource in [RLIMIT_CPU, RLIMIT_AS, RLIMIT_DATA] {
            _ = CLinuxRaiseResourceLimit(Int32(resource.rawValue), .max)
        }
        // The copy serves. It is not a child of the client, which may wait for all of its children.
        switch CLinuxFork() {
        case 0: break
        case -1: return fail(EX_OSERR, SystemError.text(errno))
        default: _exit(0)
        }
        // ps and top show the name; that of a program that serves itself would be "exe".
        pthread_setname_np(pthread_self(), String(ServerStart.programName.prefix(15)))
        // In the copy: clients see the process that called listen as their peer.
        guard listener.listen() else { return fail(EX_OSERR, SystemError.text(errno)) }
        let served = ServedSocket(listener, directory: directory)
        signal(SIGPIPE, SIG_IGN)
        // The client continues when it reads this, and must find a server without its pipe.
        let readiness = fcntl(1, F_DUPFD_CLOEXEC, ServerStart.listenerNumber + 1)
        for descriptor in Int32(1)...2 { dup2(0, descriptor) }
        guard write("\(ServerStart.ready)\n", to: readiness) else { return EX_OSERR }
        close(readiness)
        do throws(DistributedError) {
            try LocalServer(directory: directory).serve(served, endsWhenIdle: true)
            return 0
        } catch {
            return EX_OSERR
        }
    }

    private static func fail(_ status: Int32, _ problem: String) -> Int32 {
        _ = write("\(problem)\n", to: 2)
        return status
    }

    private static func write(_ text: String, to descriptor: Int32) -> Bool {
        let bytes = Array(text.utf8)
        return Glibc.write(descriptor, bytes, bytes.count) == bytes.count
    }
}
