import ArgumentParser
import DistributedNotifications
import Foundation

/// A notification's name and object, or an observer's, looked at before anything is started.
struct NotificationWords {
    private static let longestName = 255
    private static let longestObject = 1024

    var name: String?
    var object: String?

    /// - Throws: `ValidationError`, in the words in which a center would refuse them.
    func validate() throws {
        if let name, let problem = Self.problem(of: name, longest: Self.longestName) ?? Self.emptiness(of: name) {
            throw ValidationError("\(DistributedError.nameNotUsable(name: name, problem: problem))")
        }
        if let object, let problem = Self.problem(of: object, longest: Self.longestObject) {
            throw ValidationError("\(DistributedError.objectNotUsable(object: object, problem: problem))")
        }
    }

    private static func emptiness(of name: String) -> String? {
        name.isEmpty ? "is empty" : nil
    }

    private static func problem(of text: String, longest: Int) -> String? {
        if text.utf8.contains(0) { return "contains NUL" }
        return text.utf8.count > longest ? "has \(text.utf8.count) bytes" : nil
    }
}
