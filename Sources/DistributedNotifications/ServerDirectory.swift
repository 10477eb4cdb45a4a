internal import CLinux
internal import Glibc

/// The directory with the socket of a user's server.
///
/// It belongs to the user, has mode 0700, and is not a symbolic link.
public struct ServerDirectory: Sendable, Hashable {
    /// The absolute path. The directory is created when it is first needed; its parent must exist.
    public var path: String

    public init(path: String) { self.path = path }

    /// The path of the socket on which the server listens.
    public var socketPath: String { "\(path)/socket" }
    /// The path of the file that a process locks while it starts or stops a server. The file remains when it is
    /// unlocked.
    public var lockPath: String { "\(path)/lock" }

    /// `$XDG_RUNTIME_DIR/distributed-notifications`, or `/tmp/distributed-notifications-UID`, where UID is the
    /// effective user.
    ///
    /// The variable is used if it is an absolute path, and if the directory belongs to the effective user or does not
    /// exist. It is ignored in a process with rights that its user does not have, for example of a file with
    /// set-user-id. A process without the variable, such as a cron job, does not share a server with processes that
    /// have it: set the variable there, or pass a directory.
    public static var `default`: ServerDirectory {
        ServerDirectory(
            runtimeDirectory: CLinuxEnvironment("XDG_RUNTIME_DIR").map { String(cString: $0) }, user: geteuid()
        ) { path in
            var file = CLinuxFile()
            return CLinuxFileBehindPath(path, &file) ? file.owner : nil
        }
    }

    /// As `default`, of these values. `ownerOf` returns the owner of the directory at a path; nil if there is none.
    init(runtimeDirectory: String?, user: UInt32, ownerOf: (String) -> UInt32?) {
        if let runtimeDirectory, runtimeDirectory.hasPrefix("/"), ownerOf(runtimeDirectory) ?? user == user {
            var parent = runtimeDirectory[...]
            while parent.hasSuffix("/") { parent.removeLast() }
            self.init(path: "\(parent)/distributed-notifications")
        } else {
            self.init(path: "/tmp/distributed-notifications-\(user)")
        }
    }
}
