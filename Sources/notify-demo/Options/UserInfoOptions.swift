import ArgumentParser
import DistributedNotifications
import Foundation

/// The options for a notification's userInfo.
struct UserInfoOptions: ParsableArguments {
    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            """
            Entries of userInfo: key=text, or key:=JSON for numbers, true and false, arrays and dictionaries, such as \
            count:=3.
            """, valueName: "entry"))
    var userInfo: [String] = []

    func validate() throws { _ = try value() }

    /// Reads the entries. 3 is an integer and 3.0 a real. Null and numbers beyond 64 bits are refused.
    ///
    /// - Returns: nil if there is none.
    /// - Throws: `ValidationError` for a malformed entry and for a duplicate key.
    func value() throws -> [String: PropertyListValue]? {
        var userInfo: [String: PropertyListValue] = [:]
        for entry in self.userInfo {
            guard let parts = entry.wholeMatch(of: /([^=]*?)(:?)=(.*)/.dotMatchesNewlines()) else {
                throw ValidationError(
                    "--user-info takes key=text or key:=JSON, and \"\(entry)\" has no \"=\". If it is the name of the "
                        + "notification, write it before --user-info.")
            }
            let (key, text) = (String(parts.1), String(parts.3))
            if key.isEmpty {
                throw ValidationError("--user-info takes key=text or key:=JSON, and \"\(entry)\" has no key.")
            }
            let value = parts.2.isEmpty ? .string(text) : try Self.json(text, of: key)
            if userInfo.updateValue(value, forKey: key) != nil {
                throw ValidationError("--user-info contains the key \"\(key)\" twice.")
            }
        }
        return userInfo.isEmpty ? nil : userInfo
    }

    private static func json(_ text: String, of key: String) throws -> PropertyListValue {
        let problem: String
        do {
            return try PropertyListValue(
                JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed))
        } catch let error as DistributedError {
            problem = "cannot be posted: \(error.path.map { "\($0) " } ?? "")\(error.cause ?? "")"
        } catch {
            let reason = (error as NSError).userInfo["NSDebugDescription"].map { "\($0)" } ?? "\(error)"
            problem = "is not JSON: \(reason.trimmingCharacters(in: ["."]))"
        }
        throw ValidationError(
            "the value of \"\(key)\" \(problem). JSON follows :=, such as 3, true, [1,2] or {\"a\":\"b\"}; "
                + "for text, write \(key)=\(text).")
    }
}
