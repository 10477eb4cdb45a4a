/// The agreement between a client that starts a server and the program that it starts.
///
/// The program gets the arguments below, the socket, bound and not yet listening, as descriptor 3, and a pipe as
/// standard output and standard error. It writes `ready` when it listens. If it ends instead, what it wrote before is
/// the reason.
package enum ServerHandover {
    /// The name of the executable, and argv[0] of any program that is started as the server.
    package static let programName = "notification-server"
    /// argv[1]; argv[2] is the directory.
    package static let option = "--on-demand"
    package static let listener: Int32 = 3
    /// A line of its own.
    package static let ready = "ready"

    package static func arguments(directory: String) -> [String] { [programName, option, directory] }

    /// - Returns: the directory, if these are the arguments of a program that a client started as the server.
    package static func directory(in arguments: [String]) -> String? {
        arguments.count == 3 && arguments[0] == programName && arguments[1] == option ? arguments[2] : nil
    }
}
