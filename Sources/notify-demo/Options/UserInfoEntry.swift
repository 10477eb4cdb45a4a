import ArgumentParser
import DistributedNotifications

/// An entry of userInfo on a command line: `key=text`, or `key:=JSON` for other values.
struct UserInfoEntry: Hashable {
    var key: String
    var value: PropertyListValue

    /// - Throws: `ValidationError`.
    init(_ text: String) throws {
        guard let sign = text.firstIndex(of: "=") else {
            throw ValidationError(
                "--user-info takes key=text or key:=JSON, and \"\(text)\" has no \"=\". If it is the name of the "
                    + "notification, write it before --user-info.")
        }
        let isJSON = sign > text.startIndex && text[text.index(before: sign)] == ":"
        key = String(text[..<(isJSON ? text.index(before: sign) : sign)])
        guard !key.isEmpty else {
            throw ValidationError("--user-info takes key=text or key:=JSON, and \"\(text)\" has no key.")
        }
        let rest = String(text[text.index(after: sign)...])
        guard isJSON else {
            value = .string(rest)
            return
        }
        do throws(UserInfoError) {
            value = try UserInfoJSON.value(of: rest.utf8)
        } catch {
            throw ValidationError(
                "the value of \"\(key)\" \(error). JSON follows :=, such as 3, true, [1,2] or {\"a\":\"b\"}; "
                    + "for text, write \(key)=\(rest).")
        }
    }

    /// - Throws: `ValidationError` for a malformed entry and for a duplicate key.
    static func userInfo(_ texts: [String]) throws -> [String: PropertyListValue] {
        var userInfo: [String: PropertyListValue] = [:]
        for text in texts {
            let entry = try UserInfoEntry(text)
            guard userInfo.updateValue(entry.value, forKey: entry.key) == nil else {
                throw ValidationError("--user-info contains the key \"\(entry.key)\" twice.")
            }
        }
        return userInfo
    }
}
