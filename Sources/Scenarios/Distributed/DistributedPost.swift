internal import DistributedNotifications
internal import Foundation

/// A notification that a distributed scenario posts.
struct DistributedPost: Codable {
    /// Identifies it in logs; travels in the userInfo.
    var label: String
    var name = Notification.Name.test.rawValue
    var object: String?
    var isImmediate = false

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

    /// A list of labels for a log line: `a 1 2`, and ten or more consecutive numbers as `7…1030`.
    static func text(of labels: [String]) -> String {
        var parts: [String] = []
        var rest = labels[...]
        while let first = rest.first {
            let run = Int(first).map { number in zip(rest, number...).prefix { $0 == "\($1)" }.count } ?? 1
            parts += run < 10 ? [first] : ["\(first)…\(rest[rest.startIndex + run - 1])"]
            rest = rest.dropFirst(run < 10 ? 1 : run)
        }
        return parts.joined(separator: " ")
    }
}

extension DistributedPost: ExpressibleByStringLiteral {
    init(stringLiteral label: String) { self.init(label: label) }
}
