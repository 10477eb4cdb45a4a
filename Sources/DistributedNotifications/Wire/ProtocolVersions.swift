/// The versions of the protocol that a program speaks. Client and server use the newest one that both speak.
package struct ProtocolVersions: Hashable, Sendable, CustomStringConvertible {
    package var oldest: UInt16
    package var newest: UInt16

    /// Those of this library. Version 3 has the number of a recorded post, which a program of version 2 refuses.
    package static let supported = ProtocolVersions(oldest: 3, newest: 3)

    package init(oldest: UInt16, newest: UInt16) {
        self.oldest = oldest
        self.newest = newest
    }

    package func contains(_ version: UInt16) -> Bool { version >= oldest && version <= newest }

    /// - Returns: nil if there is no version that both speak.
    package func newestCommon(with other: ProtocolVersions) -> UInt16? {
        let version = min(newest, other.newest)
        return contains(version) && other.contains(version) ? version : nil
    }

    /// Why a server refuses a client with which it has no version in common, and what to restart.
    package static func mismatch(client: ProtocolVersions, server: ProtocolVersions, serverProcess: Int32) -> String {
        let remedy =
            client.newest < server.oldest
            ? "Build the program with a newer release of the library, and restart it"
            : "End the server, so that the next client starts a newer one: kill \(serverProcess)"
        return "the program speaks \(client) of the protocol, and the server \(server). \(remedy)"
    }

    package var description: String {
        oldest == newest ? "version \(newest)" : "versions \(oldest) to \(newest)"
    }
}
