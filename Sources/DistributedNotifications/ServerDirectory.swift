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
    /// The path of the file that a process locks while it starts or stops a server. It remains when it is unlocked.
    public var lockPath: String { "\(path)/lock" }

    /// `$XDG_RUNTIME_DIR/distributed-notifications`, or `/tmp/distributed-notifications-UID`, where UID is the
    /// effective user.
    ///
    /// The variable is used if it is an absolute path, and if the directory belongs to the effective user or does not
    /// exist. It is ignored in a process with rights that its user does not have, for example of a file with
    /// set-user-id. A process without the variable, such as a cron job, does not share a server with processes that
    /// have it: set the variable there, or pass a directory.
    public static var `default`: ServerDirectory {
        if let parent = environment("XDG_RUNTIME_DIR"), parent.hasPrefix("/") {
            var file = CLinuxFile()
            // Root too may open another user's, and would lock that user out.
            if !CLinuxFileBehindPath(parent, &file) || file.owner == geteuid() {
                return ServerDirectory(path: "\(parent)/distributed-notifications")
            }
        }
        return ServerDirectory(path: "/tmp/distributed-notifications-\(geteuid())")
    }

    /// A variable; nil in a process with rights that its user does not have.
    static func environment(_ name: String) -> String? { CLinuxEnvironment(name).map { String(cString: $0) } }
}
