internal import Foundation

extension ChildProgram {
    /// Finds an executable: the one beside this program, or the first in `PATH`, or in more directories.
    package static func find(_ name: String, more: [String] = []) -> String? {
        let own = Bundle.main.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent().path
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return ([own].compactMap { $0 } + path.split(separator: ":").map(String.init) + more)
            .map { "\($0)/\(name)" }.first(where: FileManager.default.isExecutableFile)
    }

    /// Finds the bridge to other machines, which is built and installed only for those who ask for it: the executable
    /// that an environment variable names, or as `find` does.
    package static func findBridge() throws(ChildProcessError) -> String {
        let (name, variable) = ("notification-bridge", "NOTIFICATION_BRIDGE")
        if let path = ProcessInfo.processInfo.environment[variable], !path.isEmpty {
            if FileManager.default.isExecutableFile(atPath: path) { return path }
            throw ChildProcessError("\(variable) is \(path). Set it to the path of an executable, or unset it.")
        }
        if let path = find(name) { return path }
        throw ChildProcessError(
            """
            there is no \(name) beside this program or in PATH. Build it beside this program, in its package \
            (BRIDGE=tls swift build -c release --product \(name)), install it (Scripts/install.sh --bridge PREFIX), or \
            set \(variable) to its path.
            """)
    }
}
