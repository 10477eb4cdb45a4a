internal import CLinux
internal import Foundation
internal import Synchronization

/// The agreement between a client that starts a server and the program that it starts.
///
/// The program gets the arguments below, the socket, bound and not yet listening, as descriptor 3, and a pipe as
/// standard output and standard error. It writes `ready` when it listens. If it ends instead, what it wrote before is
/// the reason.
package enum ServerHandover {
    /// The name of the executable, and argv[0] of any program that is started as the server.
    package static let programName = "notification-server"
    package static let listener: Int32 = 3
    /// A line of its own.
    package static let ready = "ready"
    /// argv[1]; argv[2] is the directory.
    private static let option = "--on-demand"

    static func arguments(directory: String) -> [String] { [programName, option, directory] }

    /// - Returns: the directory, if these are the arguments of a program that a client started as the server.
    package static func directory(in arguments: [String]) -> String? {
        arguments.count == 3 && arguments[0] == programName && arguments[1] == option ? arguments[2] : nil
    }
}

/// The program that a client starts as the server.
package enum ServerProgram {
    /// The environment variable that names the executable.
    static let variable = "DISTRIBUTED_NOTIFICATIONS_SERVER"

    /// True after the running program has called `NotificationServer.runIfAsked()`: then it can be its own server.
    private static let runningProgramServes = Atomic(false)

    /// The running program can be started as the server from now on.
    package static func registerRunningProgram() { runningProgramServes.store(true, ordering: .relaxed) }

    /// Finds the program to start: the environment variable's; beside the running program; in `PATH`; the running
    /// program itself.
    /// - Returns: the program; if there is none, the problem.
    static func find() -> (program: String?, problem: String) {
        func variable(_ name: String) -> String? { CLinuxEnvironment(name).map { String(cString: $0) } }
        let running = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return choose(
            variable: variable(Self.variable), runningProgram: running, searchPath: variable("PATH"),
            runningProgramServes: runningProgramServes.load(ordering: .relaxed),
            isExecutable: FileManager.default.isExecutableFile)
    }

    /// As `find`, of these values.
    static func choose(
        variable: String?, runningProgram: String?, searchPath: String?, runningProgramServes: Bool,
        isExecutable: (String) -> Bool
    ) -> (program: String?, problem: String) {
        let name = ServerHandover.programName
        if let variable, !variable.isEmpty {
            // The program runs in the directory "/", so a relative path would name another file.
            let isUsable = variable.hasPrefix("/") && isExecutable(variable)
            return (isUsable ? variable : nil, "\(Self.variable) is \(variable). Set it to the path of an executable")
        }
        let own = runningProgram.map { ($0 as NSString).deletingLastPathComponent }
        for directory in [own].compactMap(\.self) + (searchPath ?? "").split(separator: ":").map(String.init)
        where directory.hasPrefix("/") {
            let path = "\(directory)/\(name)"
            if isExecutable(path) { return (path, "") }
        }
        return (
            runningProgramServes ? "/proc/self/exe" : nil,
            "there is no executable \(name) beside this program or in PATH. Build it beside this program (swift build "
                + "--product \(name), in its package), install it, or set \(Self.variable) to its path; or call "
                + "NotificationServer.runIfAsked() first in this program's main; or start a server in another terminal: "
                + "\(name), or notify-demo serve"
        )
    }
}
