internal import Foundation

/// A process, by its id and name.
public struct ProcessIdentity: Sendable, Hashable, Codable {
    /// The kernel's process id.
    public let id: Int32
    /// The name of the executable file.
    public let name: String

    public init(id: Int32, name: String) {
        self.id = id
        self.name = name
    }

    /// The calling process.
    public static let current = ProcessIdentity(
        id: ProcessInfo.processInfo.processIdentifier, name: ProcessInfo.processInfo.processName)
}
