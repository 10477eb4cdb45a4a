internal import CLinux
internal import DistributedNotifications
internal import Glibc

/// A resource limit of a server. It inherits the limits of the program that started it, but serves other programs too.
struct ServerResource: Hashable {
    /// RLIMIT_NOFILE, for example.
    var number: Int32
    /// The soft limit that a server sets, if the hard limit allows it.
    var wanted: UInt64
    /// With less, a server could not serve its clients.
    var least: UInt64
    /// The unit in messages. It also determines the option of ulimit.
    var unit: Unit

    enum Unit {
        case openFiles, secondsOfProcessorTime, bytesOfAddressSpace, bytesOfData
    }

    static func openFiles(_ limits: ServerLimits) -> ServerResource {
        ServerResource(
            number: Int32(RLIMIT_NOFILE.rawValue), wanted: UInt64(max(limits.clients, 0)) + 64,
            least: UInt64(min(max(limits.clients, 0), 64) + 64), unit: .openFiles)
    }

    /// The limits of a process that only serves.
    static func all(_ limits: ServerLimits) -> [ServerResource] {
        [
            openFiles(limits),
            ServerResource(
                number: Int32(RLIMIT_CPU.rawValue), wanted: .max, least: 60, unit: .secondsOfProcessorTime),
            ServerResource(
                number: Int32(RLIMIT_AS.rawValue), wanted: .max, least: 512 << 20, unit: .bytesOfAddressSpace),
            ServerResource(
                number: Int32(RLIMIT_DATA.rawValue), wanted: .max, least: 256 << 20, unit: .bytesOfData),
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
        let (unit, option) =
            switch unit {
            case .openFiles: ("open files", "-Hn")
            case .secondsOfProcessorTime: ("seconds of processor time", "-Ht")
            case .bytesOfAddressSpace: ("bytes of address space", "-Hv")
            case .bytesOfData: ("bytes of data", "-Hd")
            }
        return "it may use \(limit) \(unit), and a server needs \(least). Raise the hard limit (ulimit \(option))"
    }
}
