internal import CLinux
internal import DistributedNotifications
internal import Glibc

/// A resource limit of a server. It inherits the limits of the program that started it, but serves other programs too.
struct ServerResource: Hashable {
    /// RLIMIT_NOFILE, for example.
    var number: Int32
    /// The soft limit that a server sets, if the hard limit allows it.
    var wanted = UInt64.max
    /// With less, a server could not serve its clients.
    var least: UInt64
    /// The unit in messages, and the option of ulimit.
    var unit: String
    var option: String

    static func openFiles(_ limits: ServerLimits) -> ServerResource {
        ServerResource(
            number: Int32(RLIMIT_NOFILE.rawValue), wanted: UInt64(max(limits.clients, 0)) + 64,
            least: UInt64(min(max(limits.clients, 0), 64) + 64), unit: "open files", option: "-Hn")
    }

    /// The limits of a process that only serves.
    static func all(_ limits: ServerLimits) -> [ServerResource] {
        func resource(_ resource: __rlimit_resource, _ least: UInt64, _ unit: String, _ option: String) -> Self {
            ServerResource(number: Int32(resource.rawValue), least: least, unit: unit, option: option)
        }
        return [
            openFiles(limits), resource(RLIMIT_CPU, 60, "seconds of processor time", "-Ht"),
            resource(RLIMIT_AS, 512 << 20, "bytes of address space", "-Hv"),
            resource(RLIMIT_DATA, 256 << 20, "bytes of data", "-Hd"),
        ]
    }

    /// Raises the soft limits of this process.
    /// - Returns: the first limit that is still too low, and how to raise it; nil if none is.
    static func raise(_ resources: [ServerResource]) -> String? {
        resources.lazy.compactMap { $0.problem(limit: CLinuxRaiseResourceLimit($0.number, $0.wanted)) }.first
    }

    /// The problem with a limit; nil if the limit is high enough.
    func problem(limit: UInt64) -> String? {
        guard limit < least else { return nil }
        return "it may use \(limit) \(unit), and a server needs \(least). Raise the hard limit (ulimit \(option))"
    }
}
