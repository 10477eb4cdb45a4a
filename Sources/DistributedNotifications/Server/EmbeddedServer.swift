internal import CEmbeddedServer
internal import CLinux
internal import Glibc

/// Runs in a copy of a program that was started as the server, instead of the program's main. See CEmbeddedServer.c.
///
/// Its arguments are those of `CEmbeddedServerStart`: the place's directory, the process that started it, which is for
/// `ps` only, and the pipe by which it is recognised. Descriptor 3 is the place's socket, which is bound; to 4 it says
/// that it listens, or why it does not. The place is locked until then.
@_cdecl("DistributedNotificationsServe")
func distributedNotificationsServe(_ count: Int32, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) {
    _exit(EmbeddedServer.run((0..<Int(count)).compactMap { arguments[$0].map { String(cString: $0) } }))
}

enum EmbeddedServer {
    /// With which status the process ends, as <sysexits.h> has them.
    enum Status {
        static let usage: Int32 = 64
        static let noListener: Int32 = 69
        static let system: Int32 = 71
    }

    static func run(_ arguments: [String]) -> Int32 {
        guard arguments.count == CEmbeddedServerArguments, arguments[1].hasPrefix("/") else { return Status.usage }
        let place = ServerPlace(directory: arguments[1])
        guard let socket = InheritedListener.description(of: CEmbeddedServerListener.number),
            socket.path == place.socketPath
        else { return Status.noListener }
        let listener = LocalSocket(owning: CEmbeddedServerListener.number)
        _ = fcntl(listener.descriptor, F_SETFD, FD_CLOEXEC)
        // `top` and `ps` show it; else it would be "exe".
        pthread_setname_np(pthread_self(), "notify-server")
        let limits = ServerLimits()
        if let problem = ServerResource.raise(ServerResource.all(limits)) {
            say("has limits that are too low: \(problem)")
            return Status.system
        }
        guard listener.listen() else { return Status.system }
        let served = ServedSocket(inherited: listener, place: place)
        guard say(String(UnicodeScalar(UInt8(CEmbeddedServerReady)))) else { return Status.system }
        close(CEmbeddedServerReadiness.number)
        do throws(DistributedError) {
            try NotificationServer(place: place, limits: limits).serve(served, endsWhenIdle: true)
            return 0
        } catch {
            return Status.system
        }
    }

    /// Tells the process that started this one.
    @discardableResult
    private static func say(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return write(CEmbeddedServerReadiness.number, bytes, bytes.count) == bytes.count
    }
}

extension CEmbeddedServerDescriptor {
    fileprivate var number: Int32 { Int32(rawValue) }
}
