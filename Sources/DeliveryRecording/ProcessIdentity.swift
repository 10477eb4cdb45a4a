internal import Foundation

/// Which process a record is of.
public struct ProcessIdentity: Sendable, Hashable, Codable {
    /// The kernel's process id.
    public let id: Int32
    /// The name of the executable file.
    public let name: String

    public init(id: Int32, name: String) {
        self.id = id
        self.name = name
    }

    /// This process.
    public static let current = ProcessIdentity(
        id: ProcessInfo.processInfo.processIdentifier, name: ProcessInfo.processInfo.processName)
}
