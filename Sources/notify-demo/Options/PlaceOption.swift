import ArgumentParser
import DistributedNotifications
import Foundation

/// The directory of the server's socket.
struct PlaceOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The directory in which processes meet their server; it is created if it does not exist (default: \
            distributed-notifications in $XDG_RUNTIME_DIR, else /tmp/distributed-notifications-UID).
            """, valueName: "directory"),
        completion: .directory)
    var directory: String?

    func validate() throws {
        if directory?.isEmpty == true {
            throw ValidationError("--directory is empty. Name a directory, or leave it out.")
        }
    }

    var place: ServerPlace {
        guard let directory else { return .default }
        // A server that is started goes elsewhere, so the path must not depend on where this process is.
        let path = URL(filePath: directory, directoryHint: .notDirectory).standardizedFileURL
            .path(percentEncoded: false)
        return ServerPlace(directory: path)
    }
}
