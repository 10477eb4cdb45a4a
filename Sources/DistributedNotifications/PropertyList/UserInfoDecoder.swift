internal import Foundation

/// Makes a `Decodable` value of a property list: a value that something decodes itself from.
struct UserInfoDecoder: Decoder, SingleValueDecodingContainer {
    fileprivate let value: PropertyListValue
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// - Throws: `.userInfoNotUsable` with the path of the value that does not fit.
    static func decode<Value: Decodable>(
        _ type: Value.Type, from userInfo: [String: PropertyListValue]
    ) throws(DistributedError) -> Value {
        do {
            return try UserInfoDecoder(value: .dictionary(userInfo), codingPath: []).decode(type)
        } catch let DecodingError.keyNotFound(key, context) {
            throw .userInfoNotUsable(
                path: PropertyListKey.path(context.codingPath + [key]), problem: "is missing, and \(type) needs it")
        } catch let DecodingError.typeMismatch(_, context) {
            throw .userInfoNotUsable(path: PropertyListKey.path(context.codingPath), problem: context.debugDescription)
        } catch let DecodingError.dataCorrupted(context) {
            throw .userInfoNotUsable(path: PropertyListKey.path(context.codingPath), problem: context.debugDescription)
        } catch {
            throw .userInfoNotUsable(path: "userInfo", problem: "is not decoded as \(type): \(error)")
        }
    }

    fileprivate func mismatch<Result>(_ type: Any.Type) throws -> Result {
        let (text, limit) = ("\(value)", 80)
        let shown = text.count > limit ? "\(text.prefix(limit))…" : text
        throw DecodingError.typeMismatch(
            type, .init(codingPath: codingPath, debugDescription: "is \(shown), and \(type) is expected"))
    }

    // MARK: A value

    func decodeNil() -> Bool { false }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let result: Any?
        switch type {
        case is PropertyListValue.Type: result = value
        case is String.Type: result = value.stringValue
        case is Bool.Type: result = value.booleanValue
        case is Double.Type: result = value.realValue
        case is Float.Type: result = value.realValue.map { Float($0) }
        case is Date.Type: result = value.dateValue
        case is Data.Type: result = value.dataValue
        case let type as any FixedWidthInteger.Type: result = integer(type)
        default: return try Value(from: self)
        }
        return try result as? Value ?? mismatch(type)
    }

    private func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) -> Integer? {
        if case .integer(let integer) = value { Integer(exactly: integer) } else { nil }
    }

    // MARK: Containers

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = value else { return try mismatch([PropertyListValue].self) }
        return Elements(elements: elements, codingPath: codingPath)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .dictionary(let members) = value else { return try mismatch([String: PropertyListValue].self) }
        return KeyedDecodingContainer(Members<Key>(members: members, codingPath: codingPath))
    }
}

private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let members: [String: PropertyListValue]
    let codingPath: [any CodingKey]

    var allKeys: [Key] { members.keys.compactMap { Key(stringValue: $0) } }
    func contains(_ key: Key) -> Bool { members[key.stringValue] != nil }
    func decodeNil(forKey key: Key) -> Bool { !contains(key) }

    private func decoder(_ key: any CodingKey) throws -> UserInfoDecoder {
        guard let value = members[key.stringValue] else {
            throw DecodingError.keyNotFound(key, .init(codingPath: codingPath, debugDescription: ""))
        }
        return UserInfoDecoder(value: value, codingPath: codingPath + [key])
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try decoder(key).decode(type)
    }

    func nestedContainer<Nested>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { try decoder(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { try decoder(PropertyListKey("super")) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }
}

private struct Elements: UnkeyedDecodingContainer {
    let elements: [PropertyListValue]
    let codingPath: [any CodingKey]
    var currentIndex = 0

    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex == elements.count }
    func decodeNil() -> Bool { false }

    private mutating func next() throws -> UserInfoDecoder {
        let path = codingPath + [PropertyListKey(currentIndex)]
        guard !isAtEnd else {
            throw DecodingError.dataCorrupted(.init(codingPath: path, debugDescription: "is missing"))
        }
        defer { currentIndex += 1 }
        return UserInfoDecoder(value: elements[currentIndex], codingPath: path)
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try next().decode(type) }

    mutating func nestedContainer<Nested>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
        try next().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next().unkeyedContainer() }
    mutating func superDecoder() throws -> any Decoder { try next() }
}
