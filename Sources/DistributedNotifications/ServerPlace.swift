/// The directory in which the processes of one user meet their server.
///
/// It belongs to the user, nobody else may look into it (0700), and it is no link.
public struct ServerPlace: Sendable, Hashable {
    public var directory: String

    public init(directory: String) {
        self.directory = directory
    }

    /// What the server listens on.
    public var socketPath: String { "\(directory)/socket" }
    /// What is locked by who starts a server or stops.
    public var lockPath: String { "\(directory)/lock" }

    /// `$XDG_RUNTIME_DIR/notify-demo`, else a directory of the user's own under the system's temporary one.
    public static var `default`: ServerPlace { ServerPlace(directory: "") }
}
