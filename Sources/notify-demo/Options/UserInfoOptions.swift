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

    /// Reads the entries: `key=text`, or `key:=JSON` for other values.
    ///
    /// - Returns: nil if there is none.
    /// - Throws: `ValidationError` for a malformed entry and for a duplicate key.
    func value() throws -> [String: PropertyListValue]? {
        var userInfo: [String: PropertyListValue] = [:]
        for entry in self.userInfo {
            let (key, value) = try Self.keyAndValue(of: entry)
            guard userInfo.updateValue(value, forKey: key) == nil else {
                throw ValidationError("--user-info contains the key \"\(key)\" twice.")
            }
        }
        return userInfo.isEmpty ? nil : userInfo
    }

    private static func keyAndValue(of entry: String) throws -> (String, PropertyListValue) {
        guard let sign = entry.firstIndex(of: "=") else {
            throw ValidationError(
                "--user-info takes key=text or key:=JSON, and \"\(entry)\" has no \"=\". If it is the name of the "
                    + "notification, write it before --user-info.")
        }
        let isJSON = entry[..<sign].hasSuffix(":")
        let (key, text) = (String(entry[..<sign].dropLast(isJSON ? 1 : 0)), String(entry[sign...].dropFirst()))
        guard !key.isEmpty else {
            throw ValidationError("--user-info takes key=text or key:=JSON, and \"\(entry)\" has no key.")
        }
        guard isJSON else { return (key, .string(text)) }
        do throws(UserInfoError) {
            return (key, try .json(text.utf8))
        } catch {
            throw ValidationError(
                "the value of \"\(key)\" \(error). JSON follows :=, such as 3, true, [1,2] or {\"a\":\"b\"}; "
                    + "for text, write \(key)=\(text).")
        }
    }
}

extension PropertyListValue {
    /// Reads JSON: 3 is an integer and 3.0 a real. Null and numbers beyond 64 bits are refused.
    static func json(_ text: some Collection<UInt8>) throws(UserInfoError) -> PropertyListValue {
        let object: Any
        do {
            object = try JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed)
        } catch {
            let reason = (error as NSError).userInfo["NSDebugDescription"].map { "\($0)" } ?? "\(error)"
            throw UserInfoError("is not JSON: \(reason.trimmingCharacters(in: ["."]))")
        }
        do throws(DistributedError) {
            return try PropertyListValue(object)
        } catch {
            throw UserInfoError(error)
        }
    }
}

/// Why a userInfo is refused.
struct UserInfoError: Error, CustomStringConvertible {
    /// The cause, and what to do, as words that follow a key.
    var description: String

    init(_ description: String) { self.description = description }

    init(_ error: DistributedError) {
        description = "cannot be posted: \(error.path.map { "\($0) " } ?? "")\(error.problem)"
    }
}
