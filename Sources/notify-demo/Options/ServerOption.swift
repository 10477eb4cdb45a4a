import ArgumentParser
import DistributedNotifications
import Foundation

/// The directory of the server's socket.
struct ServerOption: ParsableArguments {
    @Option(
        name: .customLong("directory"),
        help: ArgumentHelp(
            """
            The directory in which processes meet their server; it is created if it does not exist (default: \
            distributed-notifications in $XDG_RUNTIME_DIR, else /tmp/distributed-notifications-UID).
            """, valueName: "directory"),
        completion: .directory)
    var path: String?

    var directory: ServerDirectory {
        // A server that is started goes elsewhere, so the path must not depend on where this process is.
        path.map { URL(filePath: $0, directoryHint: .notDirectory).standardizedFileURL.path(percentEncoded: false) }
            .map { ServerDirectory(path: $0) } ?? .default
    }

    static func noServer(in directory: ServerDirectory) -> String {
        "no server runs at \(directory.path). The first process that posts or observes starts one."
    }
}
