package import DistributedNotifications
internal import Foundation
package import NATSClient

/// The servers that a bridge connects, and how it does that.
package struct BridgeOptions: Sendable {
    /// The local server's.
    package var directory = ServerDirectory.default
    /// Tried in this order.
    package var servers: [NATSServer] = []
    package var nats = NATSOptions(name: "notification-bridge", largestMessage: Wire.frameLimit + 1024)
    /// A file with `nats.credentials`, which is read again for each connection.
    package var credentialsFile: String?
    /// The first part of the subjects.
    package var prefix = "notifications"
    /// Only notifications with these names are published, and posted here.
    package var names: [String] = []
    /// The stream of JetStream that holds what is published; nil: nothing is held.
    package var stream: String?
    /// How other machines see this one.
    package var origin = DistributedNotification.Origin(
        machine: ProcessInfo.processInfo.hostName, user: NSUserName())
    /// Where the bridge keeps what it must remember.
    package var stateDirectory = Self.defaultStateDirectory

    /// A new stream holds so many bytes, and then loses the oldest messages.
    static let streamBytes = 256 << 20

    package init() {}

    /// `$XDG_STATE_HOME/notification-bridge/HOST`, or the same in `~/.local/state`. Machines may share a home
    /// directory.
    static var defaultStateDirectory: String {
        let process = ProcessInfo.processInfo
        // An empty or relative one counts as none.
        let given = process.environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let home = given ?? "\(process.environment["HOME"] ?? NSHomeDirectory())/.local/state"
        return "\(home)/notification-bridge/\(process.hostName)"
    }

    /// The first mistake in the options; nil: there is none.
    package var problem: String? {
        if servers.isEmpty { return "no NATS server is given. Give one: --nats nats://HOST:4222" }
        if names.isEmpty { return "no name is given, and only given names are bridged. Give some: --name NAME" }
        if prefix.wholeMatch(of: /[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*/) == nil {
            return "\"\(prefix)\" is no prefix of subjects. Use words of letters, digits, - and _, separated by dots"
        }
        if let stream, stream.wholeMatch(of: /[A-Za-z0-9_-]+/) == nil {
            return "\"\(stream)\" is no name of a stream. Use letters, digits, - and _"
        }
        for name in names + [origin.machine, origin.user]
        where name.isEmpty || name.utf8.count > Wire.nameLimit || name.contains("\0") {
            return "\"\(name)\" is no name. A name has 1 to \(Wire.nameLimit) bytes, and none is NUL"
        }
        return names.count <= Wire.observerLimit ? nil : "more than \(Wire.observerLimit) names are given"
    }
}
