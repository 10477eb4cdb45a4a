internal import Glibc

/// The directory in which the processes of one user meet their server.
///
/// It belongs to the user, nobody else may look into it (0700), and it is no link.
public struct ServerPlace: Sendable, Hashable {
    /// Its whole path, from `/` on. It is made when it is first needed; the directory above it must be there.
    public var directory: String

    public init(directory: String) {
        self.directory = directory
    }

    /// What the server listens on.
    public var socketPath: String { "\(directory)/socket" }
    /// What is locked by who starts a server or stops. It stays when nobody has it locked, and means nothing then.
    public var lockPath: String { "\(directory)/lock" }

    /// `$XDG_RUNTIME_DIR/notify-demo`, else a directory of the user's own under the system's temporary one.
    ///
    /// The variable counts if it is an absolute path. The other is `/tmp/notify-demo-UID`, whatever TMPDIR says: that differs
    /// from session to session, and two processes of a user would not meet. For the same reason a process that was started
    /// without the first variable, such as by cron, meets only those without it: set it there, or give a place.
    public static var `default`: ServerPlace {
        ServerPlace(runtimeDirectory: getenv("XDG_RUNTIME_DIR").map { String(cString: $0) }, user: geteuid())
    }

    /// The default place of a process with this value of the variable.
    init(runtimeDirectory: String?, user: UInt32) {
        if let runtimeDirectory, runtimeDirectory.hasPrefix("/") {
            var parent = runtimeDirectory[...]
            while parent.hasSuffix("/") { parent.removeLast() }
            self.init(directory: "\(parent)/notify-demo")
        } else {
            self.init(directory: "/tmp/notify-demo-\(user)")
        }
    }

    /// Makes the directory, with 0700, if it is not there, and checks that it can be used.
    ///
    /// Threads: any. Cost: some system calls.
    /// - Throws: `DistributedError.placeNotUsable`.
    public func prepare() throws(DistributedError) {
        if try PlaceDirectory.exists(at: directory) { return }
        try PlaceDirectory.make(at: directory)
        guard try PlaceDirectory.exists(at: directory) else {
            throw .placeNotUsable(path: directory, problem: "it was removed as soon as it was made. Try again")
        }
    }
}
