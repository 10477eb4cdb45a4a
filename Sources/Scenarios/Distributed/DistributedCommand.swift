internal import DistributedNotifications
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

/// A notification that a distributed scenario posts.
struct DistributedPost: Codable {
    var name = TestNotification.name
    var object: String?
    /// The label that identifies it in logs; it travels in the userInfo.
    var label: String
    var isImmediate = false

    init(_ label: String, name: String = TestNotification.name, object: String? = nil, immediately: Bool = false) {
        self.label = label
        self.name = name
        self.object = object
        isImmediate = immediately
    }

    private static let key = "label"

    /// The label and one value of each kind of property list.
    var userInfo: [String: PropertyListValue] {
        [
            Self.key: .string(label), "isHot": true, "sizes": [1, 2.5],
            "when": .date(Date(timeIntervalSince1970: 1_455_401_112)),
        ]
    }

    static func label(of notification: DistributedNotification) -> String {
        guard case .string(let label)? = notification.userInfo?[key] else { return "nothing" }
        return label
    }

    static func text(of userInfo: [String: PropertyListValue]?) -> String {
        userInfo.map { PropertyListValue.dictionary($0).description } ?? "nothing"
    }
}
