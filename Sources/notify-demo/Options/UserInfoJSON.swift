import DistributedNotifications
import Foundation

/// Reads JSON as a property list: 3 is an integer and 3.0 a real. Null, numbers beyond 64 bits and duplicate keys are
/// refused.
enum UserInfoJSON {
    static func value(of text: some Collection<UInt8>) throws(UserInfoError) -> PropertyListValue {
        let object: Any
        do {
            object = try JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed)
        } catch {
            let reason = (error as NSError).userInfo["NSDebugDescription"].map { "\($0)" } ?? "\(error)"
            throw UserInfoError("is not JSON: \(reason.trimmingCharacters(in: ["."]))")
        }
        if let key = duplicateKey(in: text) { throw UserInfoError("contains the key \"\(key)\" twice") }
        do throws(DistributedError) {
            return try PropertyListValue(object)
        } catch {
            throw UserInfoError(error)
        }
    }

    /// The first key that an object contains twice. Foundation would keep the last value.
    ///
    /// - Parameter text: valid JSON.
    private static func duplicateKey(in text: some Collection<UInt8>) -> String? {
        /// The keys of each object, and an empty set for each array, that contains the current position.
        var keys: [Set<String>] = []
        var string: [UInt8] = []
        var bytes = text.makeIterator()
        while let byte = bytes.next() {
            switch byte {
            case UInt8(ascii: "\""):
                string = [byte]
                while let next = bytes.next() {
                    string.append(next)
                    if next == UInt8(ascii: "\"") { break }
                    if next == UInt8(ascii: "\\"), let escaped = bytes.next() { string.append(escaped) }
                }
            case UInt8(ascii: "{"), UInt8(ascii: "["): keys.append([])
            case UInt8(ascii: "}"), UInt8(ascii: "]"): _ = keys.popLast()
            case UInt8(ascii: ":"):
                guard let key = try? JSONDecoder().decode(String.self, from: Data(string)), !keys.isEmpty else { break }
                if !keys[keys.count - 1].insert(key).inserted { return key }
            default: break
            }
        }
        return nil
    }
}
