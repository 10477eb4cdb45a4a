internal import CLinux
internal import Glibc
internal import Synchronization

/// The program that a client starts as the server.
package struct ServerProgram: Hashable {
    /// The file to execute.
    var path: String
    /// The name in messages.
    var name: String

    /// The environment variable that names the executable.
    static let variable = "DISTRIBUTED_NOTIFICATIONS_SERVER"

    /// True after the running program has called `NotificationServer.runIfAsked()`: then it can be its own server.
    private static let runningProgramServes = Atomic(false)

    /// The running program can be started as the server from now on.
    package static func registerRunningProgram() {
        runningProgramServes.store(true, ordering: .relaxed)
    }

    /// Which program to start, or why there is none.
    enum Choice: Hashable {
        case program(ServerProgram)
        case none(problem: String)
    }

    /// Looks in this order: the environment variable; beside the running program; `PATH`; the running program itself.
    ///
    /// Cost: a system call for each path.
    static func find() -> Choice {
        func variable(_ name: String) -> String? { CLinuxEnvironment(name).map { String(cString: $0) } }
        return choose(
            variable: variable(Self.variable), runningProgram: runningProgram, searchPath: variable("PATH"),
            runningProgramServes: runningProgramServes.load(ordering: .relaxed), isExecutable: isExecutable)
    }

    /// - Parameters:
    ///   - variable: the value of the environment variable.
    ///   - runningProgram: the path of the running program; nil if it is not known.
    ///   - isExecutable: whether there is a file at a path that may be executed.
    static func choose(
        variable: String?, runningProgram: String?, searchPath: String?, runningProgramServes: Bool,
        isExecutable: (String) -> Bool
    ) -> Choice {
        if let variable, !variable.isEmpty {
            // The program runs in the directory "/", so a relative path would name another file.
            guard variable.hasPrefix("/") else {
                return .none(problem: "\(Self.variable) is \(variable). Set it to an absolute path")
            }
            guard isExecutable(variable) else {
                return .none(
                    problem: "\(Self.variable) is \(variable), and there is no executable file. Correct the variable, "
                        + "or remove it")
            }
            return .program(ServerProgram(path: variable, name: variable))
        }
        let own = runningProgram?.lastIndex(of: "/").map { String(runningProgram?[..<$0] ?? "") }
        let directories = [own].compactMap(\.self) + (searchPath ?? "").split(separator: ":").map(String.init)
        for directory in directories where directory.hasPrefix("/") || directory.isEmpty {
            let path = "\(directory)/\(ServerHandover.programName)"
            if isExecutable(path) { return .program(ServerProgram(path: path, name: path)) }
        }
        if runningProgramServes {
            return .program(ServerProgram(path: "/proc/self/exe", name: runningProgram ?? "this program"))
        }
        return .none(
            problem: "there is no executable \(ServerHandover.programName) beside this program or in PATH. Build it "
                + "beside this program (swift build --product \(ServerHandover.programName), in its package), install "
                + "it, or set \(Self.variable) to its path; or call NotificationServer.runIfAsked() first in this "
                + "program's main; or start a server in another terminal: notification-server, or notify-demo serve")
    }

    private static func isExecutable(_ path: String) -> Bool {
        var file = CLinuxFile()
        return CLinuxFileBehindPath(path, &file) && file.isRegular && access(path, X_OK) == 0
    }

    private static var runningProgram: String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { buffer in
            let count = buffer.baseAddress.map { readlink("/proc/self/exe", $0, buffer.count) } ?? 0
            guard count > 0 else { return nil }
            return String(decoding: buffer[..<count].lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }
}
