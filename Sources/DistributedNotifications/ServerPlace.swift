internal import CLinux
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

    /// `$XDG_RUNTIME_DIR/distributed-notifications`, or `/tmp/distributed-notifications-UID`, where UID is the effective user.
    ///
    /// The variable is used if it is an absolute path, and the directory that it names belongs to the effective user or
    /// does not exist. It is ignored in a process that runs with rights that its user does not have: one that was
    /// executed with set-user-id, set-group-id or file capabilities, or whose real and effective ids differ. Otherwise
    /// such a process, or root with the variable of another user (`su`, `sudo -E`), would make a directory of root
    /// there, which that user cannot open.
    ///
    /// TMPDIR is not used: it differs from session to session, so two processes of a user would not meet. For the same
    /// reason a process that was started without XDG_RUNTIME_DIR, such as by cron, meets only processes without it: set
    /// the variable there, or give a place.
    public static var `default`: ServerPlace {
        ServerPlace(
            runtimeDirectory: CLinuxEnvironment("XDG_RUNTIME_DIR").map { String(cString: $0) }, user: geteuid(),
            ownerOf: owner(of:))
    }

    /// The default place of a process.
    ///
    /// - Parameters:
    ///   - runtimeDirectory: the value of the variable; nil if it is not set or not trusted.
    ///   - ownerOf: the owner of the directory at a path; nil if there is none.
    init(runtimeDirectory: String?, user: UInt32, ownerOf: (String) -> UInt32?) {
        if let runtimeDirectory, runtimeDirectory.hasPrefix("/"), ownerOf(runtimeDirectory) ?? user == user {
            var parent = runtimeDirectory[...]
            while parent.hasSuffix("/") { parent.removeLast() }
            self.init(directory: "\(parent)/distributed-notifications")
        } else {
            self.init(directory: "/tmp/distributed-notifications-\(user)")
        }
    }

    private static func owner(of path: String) -> UInt32? {
        var file = CLinuxFile()
        return CLinuxFileBehindPath(path, &file) ? file.owner : nil
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
