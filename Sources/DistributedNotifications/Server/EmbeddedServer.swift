internal import CEmbeddedServer
internal import CLinux
internal import Glibc

/// What the program does that was started as the server, before its own main. See CEmbeddedServer.c.
///
/// Its arguments are those that `ServerStart` gives: the place's directory, and who started it, which is for `ps` only.
/// Descriptor 3 is the place's socket, which is bound; a byte written to 4 says that it listens. The place is locked until then.
@_cdecl("DistributedNotificationsServe")
func distributedNotificationsServe(_ count: Int32, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) {
    _exit(EmbeddedServer.run((0..<Int(count)).compactMap { arguments[$0].map { String(cString: $0) } }))
}

enum EmbeddedServer {
    /// With which status the process ends, as <sysexits.h> has them: nobody reads what it would print.
    enum Status {
        static let usage: Int32 = 64
        static let noListener: Int32 = 69
        static let system: Int32 = 71
    }

    static func run(_ arguments: [String]) -> Int32 {
        guard arguments.count >= 2, arguments[1].hasPrefix("/") else { return Status.usage }
        let place = ServerPlace(directory: arguments[1])
        // Somebody may give a program this name who is not `ServerStart`.
        guard let socket = InheritedListener.description(of: CEmbeddedServerListener.number),
            socket.path == place.socketPath
        else { return Status.noListener }
        let listener = LocalSocket(owning: CEmbeddedServerListener.number)
        _ = fcntl(listener.descriptor, F_SETFD, FD_CLOEXEC)
        // `top` and `ps` show it; else it would be "exe".
        pthread_setname_np(pthread_self(), "notify-server")
        guard listener.listen() else { return Status.system }
        let readiness = CEmbeddedServerReadiness.number
        let served = ServedSocket(inherited: listener, place: place)
        guard write(readiness, "1", 1) == 1 else { return Status.system }
        close(readiness)
        let limits = ServerLimits()
        CLinuxAllowOpenFiles(UInt64(limits.clients + 64))
        do throws(DistributedError) {
            try NotificationServer(place: place, limits: limits).serve(served, endsWhenIdle: true)
            return 0
        } catch {
            return Status.system
        }
    }
}

extension CEmbeddedServerDescriptor {
    fileprivate var number: Int32 { Int32(rawValue) }
}
