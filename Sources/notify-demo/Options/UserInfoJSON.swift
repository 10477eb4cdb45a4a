import DistributedNotifications
import Foundation

/// Reads JSON as a property list: 3 is an integer and 3.0 a real. Null and numbers beyond 64 bits are refused.
enum UserInfoJSON {
    static func value(of text: some Sequence<UInt8>) throws(UserInfoJSONError) -> PropertyListValue {
        let object: Any
        do {
            object = try JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed)
        } catch {
            let reason = (error as NSError).userInfo["NSDebugDescription"].map { "\($0)" } ?? "\(error)"
            throw UserInfoJSONError(problem: "is not JSON: \(reason.trimmingCharacters(in: ["."]))")
        }
        do throws(DistributedError) {
            return try PropertyListValue(object)
        } catch {
            throw UserInfoJSONError(problem: "cannot be posted: \(error.path.map { "\($0) " } ?? "")\(error.problem)")
        }
    }
}

/// Why a text is refused, as words that follow its description.
struct UserInfoJSONError: Error, Hashable {
    var problem: String
}
