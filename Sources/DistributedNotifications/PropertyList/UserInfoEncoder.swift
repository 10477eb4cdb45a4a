internal import Foundation

/// Makes a property list of an `Encodable` value: a value that something encodes itself into.
///
/// Dates, data and property lists are kept as they are. A key whose value is nil is left out.
final class UserInfoEncoder: Encoder, SingleValueEncodingContainer {
    /// At most one of these: what was encoded. None, if it was nil.
    private var value: PropertyListValue?
    private var elements: [UserInfoEncoder]?
    private var members: [String: UserInfoEncoder]?
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    private init(at codingPath: [any CodingKey]) { self.codingPath = codingPath }

    /// - Throws: `.userInfoNotUsable` with the path of the value concerned.
    static func userInfo(of value: some Encodable) throws(DistributedError) -> [String: PropertyListValue] {
        let root = UserInfoEncoder(at: [])
        do {
            try root.encode(value)
            if case .dictionary(let userInfo)? = try root.result() { return userInfo }
        } catch let EncodingError.invalidValue(_, context) {
            throw .userInfoNotUsable(path: PropertyListKey.path(context.codingPath), problem: context.debugDescription)
        } catch {
            throw .userInfoNotUsable(path: "\(type(of: value))", problem: "does not encode itself: \(error)")
        }
        throw .userInfoNotUsable(
            path: "\(type(of: value))",
            problem: "is encoded without keys, and a userInfo has keys. Post a struct with it")
    }

    /// - Returns: nil for nil.
    private func result() throws -> PropertyListValue? {
        if let members { return .dictionary(try members.compactMapValues { member in try member.result() }) }
        return try elements.map { elements in
            .array(
                try elements.map { element in
                    if let value = try element.result() { return value }
                    throw element.error("is null, which a property list cannot contain")
                })
        } ?? value
    }

    private func error(_ text: String) -> EncodingError {
        .invalidValue(self, .init(codingPath: codingPath, debugDescription: text))
    }

    fileprivate func member(_ key: any CodingKey) -> UserInfoEncoder {
        let member = UserInfoEncoder(at: codingPath + [key])
        members?[key.stringValue] = member
        return member
    }

    fileprivate func element() -> UserInfoEncoder {
        let element = UserInfoEncoder(at: codingPath + [PropertyListKey(count)])
        elements?.append(element)
        return element
    }

    fileprivate var count: Int { elements?.count ?? 0 }

    // MARK: A value

    func encodeNil() {}

    func encode(_ value: some Encodable) throws {
        switch value {
        case let new as PropertyListValue: self.value = new
        case let string as String: self.value = .string(string)
        case let boolean as Bool: self.value = .boolean(boolean)
        case let real as Double: self.value = .real(real)
        case let real as Float: self.value = .real(Double(real))
        case let date as Date: self.value = .date(date)
        case let data as Data: self.value = .data(data)
        case let integer as any FixedWidthInteger:
            self.value = PropertyListValue(exactly: integer)
            if self.value == nil {
                throw error("is \(integer), and an integer is from \(Int64.min) to \(Int64.max)")
            }
        default:
            guard codingPath.count <= Wire.depthLimit else {
                throw error("is nested more than \(Wire.depthLimit) arrays and dictionaries deep")
            }
            try value.encode(to: self)
        }
    }

    // MARK: Containers

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        elements = elements ?? []
        return ElementEncoder(parent: self)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        members = members ?? [:]
        return KeyedEncodingContainer(MemberEncoder(parent: self))
    }
}

private struct MemberEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let parent: UserInfoEncoder
    var codingPath: [any CodingKey] { parent.codingPath }

    func encodeNil(forKey key: Key) {}
    func encode(_ value: some Encodable, forKey key: Key) throws { try parent.member(key).encode(value) }

    func nestedContainer<Nested>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
        parent.member(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        parent.member(key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { parent.member(PropertyListKey("super")) }
    func superEncoder(forKey key: Key) -> any Encoder { parent.member(key) }
}

private struct ElementEncoder: UnkeyedEncodingContainer {
    let parent: UserInfoEncoder
    var codingPath: [any CodingKey] { parent.codingPath }
    var count: Int { parent.count }

    func encodeNil() { _ = parent.element() }
    func encode(_ value: some Encodable) throws { try parent.element().encode(value) }

    func nestedContainer<Nested>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        parent.element().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { parent.element().unkeyedContainer() }
    func superEncoder() -> any Encoder { parent.element() }
}
