internal import DistributedNotifications
internal import Glibc

/// Makes this program able to be the server of its user's processes, so that one executable is enough.
///
/// Call it first in `main`. If a client in a process of this program started the program as the server, it serves and
/// does not return. Otherwise it returns, and clients in this process start this program as the server if they find no
/// executable `notification-server`.
///
/// Threads: call it before the program has started another thread.
/// Cost: none, unless the program was started as the server.
public func runIfAsked() {
    if let directory = ServerStart.directory(in: CommandLine.arguments) { exit(OnDemandServer.run(directory)) }
    ServerStart.registerRunningProgram()
}
