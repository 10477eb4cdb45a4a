import DistributedNotifications
import Glibc
import NotificationServer

// Started by a client: serves, and ends when no process has been connected for a minute.
NotificationServer.runIfAsked()

let usage = """
    usage: notification-server [--directory DIRECTORY]

    Serves the notifications of this user's processes, and logs to standard error. Clients start it when they need it; run
    it yourself to see what it logs, or have systemd run it: a socket that systemd passes is used. SIGTERM and Ctrl-C end
    it after it has written what its clients wait for, a second one at once.
    EXIT STATUS  0 it was told to end, 2 it cannot serve, 64 usage error
    """

/// Writes a line to standard error.
@Sendable func log(_ text: String) {
    let line = Array("\(text)\n".utf8)
    _ = write(2, line, line.count)
}

var directory = ServerDirectory.default
switch Array(CommandLine.arguments.dropFirst()) {
case []: break
case ["--help"], ["-h"]:
    print(usage)
    exit(0)
case let words where words.count == 2 && words[0] == "--directory" && words[1].hasPrefix("/"):
    directory = ServerDirectory(path: words[1])
default:
    log(usage)
    exit(64)
}

let server = LocalServer(directory: directory) { log("\($0)") }
for number in [SIGTERM, SIGINT] {
    signal(number) { number in
        signal(number, SIG_DFL)
        server.stop()
    }
}
do {
    try server.run()
} catch {
    log("notification-server: \(error)")
    exit(2)
}
