internal import Foundation

/// A command for the second process of a distributed scenario: a line of JSON on its standard input.
enum DistributedCommand: Codable {
    /// Observes the test notification on the main thread.
    case observe
    /// Posts these, and waits until the server has received them.
    case post([DistributedPost])
    /// Runs the run loop until everything that the server has handed over is handled.
    case handle

    /// - Parameter line: a line without its newline.
    init(line: String) throws {
        self = try JSONDecoder().decode(DistributedCommand.self, from: Data(line.utf8))
    }

    var line: String {
        get throws { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) }
    }
}
