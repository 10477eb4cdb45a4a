internal import Foundation

/// The programs of the scenario, which not everybody has.
struct MachinePrograms: Sendable {
    let bridge: String
    let nats: String

    /// Finds them as the server is found: named by a variable, beside the running program, or in `PATH`.
    /// - Throws: which is missing, and how to get it.
    init() throws {
        guard let nats = Self.find("nats-server", more: ["/usr/sbin", "/usr/local/sbin"]) else {
            throw ScenarioError.machines(problem: "there is no nats-server in PATH: apt-get install nats-server")
        }
        guard let bridge = Self.find("notification-bridge", "NOTIFICATION_BRIDGE") else {
            throw ScenarioError.machines(
                problem: "there is no notification-bridge beside this program or in PATH: BRIDGE=1 swift build "
                    + "--product notification-bridge")
        }
        (self.bridge, self.nats) = (bridge, nats)
    }

    static func find(_ name: String, _ variable: String? = nil, more: [String] = []) -> String? {
        let environment = ProcessInfo.processInfo.environment
        if let path = variable.flatMap({ environment[$0] }), !path.isEmpty { return path }
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let directories =
            [(own as NSString).deletingLastPathComponent]
            + (environment["PATH"] ?? "").split(separator: ":").map(String.init) + more
        return directories.map { "\($0)/\(name)" }.first(where: FileManager.default.isExecutableFile)
    }
}
