internal import Foundation

extension [String: PropertyListValue] {
    /// The property list that Foundation encodes a value as.
    init(encoding value: some Encodable) throws(DistributedError) {
        let object: Any
        do {
            object = try PropertyListSerialization.propertyList(
                from: try PropertyListEncoder().encode(value), format: nil)
        } catch let EncodingError.invalidValue(_, context) {
            throw .userInfoNotUsable(at: context.codingPath, problem: "cannot be encoded (\(context.debugDescription))")
        } catch {
            throw .userInfoNotUsable(problem: "cannot be encoded (\(error))")
        }
        guard let userInfo = object as? [String: Any] else {
            throw .userInfoNotUsable(
                problem: "has keys, and \(type(of: value)) is encoded without. Post a struct with it")
        }
        try self.init(userInfo: userInfo)
    }

    func decoded<Decoded: Decodable>(as type: Decoded.Type) throws(DistributedError) -> Decoded {
        do {
            let data = try PropertyListSerialization.data(
                fromPropertyList: mapValues(\.foundationObject), format: .binary, options: 0)
            return try PropertyListDecoder().decode(type, from: data)
        } catch let DecodingError.keyNotFound(key, context) {
            throw .userInfoNotUsable(at: context.codingPath + [key], problem: "is missing, and \(type) needs it")
        } catch let DecodingError.typeMismatch(_, context), let DecodingError.valueNotFound(_, context),
            let DecodingError.dataCorrupted(context)
        {
            throw .userInfoNotUsable(
                at: context.codingPath, problem: "does not fit \(type) (\(context.debugDescription))")
        } catch {
            throw .userInfoNotUsable(problem: "is not decoded as \(type): \(error)")
        }
    }
}

extension DistributedError {
    /// - Parameter path: of the value in the userInfo.
    static func userInfoNotUsable(at path: [any CodingKey], problem: String) -> DistributedError {
        let steps = path.map { key in key.intValue.map { "[\($0)]" } ?? step(key.stringValue) }
        return .userInfoNotUsable(path: "userInfo\(steps.joined())", problem: problem)
    }
}
