internal import Foundation

extension PropertyListValue {
    /// Converts a property list of Foundation's or Swift's types: strings, integers, reals, `Bool`, `NSNumber`, dates,
    /// data, arrays, dictionaries, and optionals of these. An `NSArray` or `NSDictionary` that contains itself ends the
    /// program, because Foundation does not survive access to its elements.
    ///
    /// - Throws: `.userInfoNotUsable` with the path of a value of another type, of an integer outside 64 bits, or of a
    ///   value that is nested too deeply. Posting checks the other limits of a userInfo.
    public init(_ object: Any) throws(DistributedError) {
        do throws(PropertyListRefusal) { self = try Self.value(object, depth: 1) } catch { throw error.error }
    }

    /// The value in common types: `String`, `Int`, `Double`, `Bool`, `Date`, `Data`, `[Any]` and `[String: Any]`.
    public var foundationObject: Any {
        switch self {
        case .string(let string): string
        case .integer(let integer): Int(integer)
        case .real(let real): real
        case .boolean(let boolean): boolean
        case .date(let date): date
        case .data(let data): data
        case .array(let array): array.map(\.foundationObject)
        case .dictionary(let dictionary): dictionary.mapValues(\.foundationObject)
        }
    }
}

extension [String: PropertyListValue] {
    /// Converts the userInfo of a `Notification`.
    ///
    /// - Throws: `.userInfoNotUsable` as `PropertyListValue.init(_:)` does, and for a key that is not a string.
    public init(userInfo: [AnyHashable: Any]) throws(DistributedError) {
        do throws(PropertyListRefusal) {
            self = try PropertyListValue.members(userInfo, depth: 1)
        } catch {
            throw error.error
        }
    }
}

/// Any optional, independent of the type that it wraps.
private protocol OptionalValue {
    var wrapped: Any? { get }
}

extension Optional: OptionalValue {
    fileprivate var wrapped: Any? { self }
}

extension PropertyListValue {
    private static func value(_ object: Any, depth: Int) throws(PropertyListRefusal) -> PropertyListValue {
        // Types are compared before casting, because Foundation also casts the number 1 to Bool.
        if let optional = object as? any OptionalValue {
            guard let wrapped = optional.wrapped else { throw .null }
            return try value(wrapped, depth: depth)
        }
        if type(of: object) == AnyHashable.self, let hashable = object as? AnyHashable {
            return try value(hashable.base, depth: depth)
        }
        if type(of: object) is NSNumber.Type, let number = object as? NSNumber { return try value(number) }
        if type(of: object) == Bool.self, let boolean = object as? Bool { return .boolean(boolean) }
        switch object {
        case let value as PropertyListValue: return value
        case let integer as any BinaryInteger: return try value(integer)
        case let real as any BinaryFloatingPoint: return .real(Double(real))
        case let string as any StringProtocol: return .string(String(string))
        case let date as Date:
            guard Wire.dates.contains(date.timeIntervalSinceReferenceDate) else { throw .noDate }
            return .date(date)
        case let data as Data: return .data(data)
        case let array as [Any]:
            guard depth <= Wire.depthLimit else { throw .tooDeep }
            var values: [PropertyListValue] = []
            for (index, object) in array.enumerated() {
                values.append(try inside(PropertyListKey(index), object, depth: depth))
            }
            return .array(values)
        case let dictionary as [AnyHashable: Any]: return .dictionary(try members(dictionary, depth: depth))
        case is NSNull: throw .null
        default:
            throw PropertyListRefusal(
                "is of the type \(type(of: object)), which a property list cannot contain. "
                    + "Use a string, number, boolean, date, data, an array or a dictionary with string keys")
        }
    }

    fileprivate static func members(
        _ dictionary: [AnyHashable: Any], depth: Int
    ) throws(PropertyListRefusal) -> [String: PropertyListValue] {
        guard depth <= Wire.depthLimit else { throw .tooDeep }
        var values = [String: PropertyListValue](minimumCapacity: dictionary.count)
        for (key, object) in dictionary {
            guard let string = key.base as? String else {
                throw PropertyListRefusal(
                    "has the key \(key.base) of the type \(type(of: key.base)), and keys are strings")
            }
            values[string] = try inside(PropertyListKey(string), object, depth: depth)
        }
        return values
    }

    private static func inside(
        _ key: PropertyListKey, _ object: Any, depth: Int
    ) throws(PropertyListRefusal) -> PropertyListValue {
        do throws(PropertyListRefusal) { return try value(object, depth: depth + 1) } catch { throw error.inside(key) }
    }

    private static func value(_ number: NSNumber) throws(PropertyListRefusal) -> PropertyListValue {
        // Foundation has one object for true and one for false.
        if number === NSNumber(value: true) { return .boolean(true) }
        if number === NSNumber(value: false) { return .boolean(false) }
        return switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "d"), UInt8(ascii: "f"): .real(number.doubleValue)
        case UInt8(ascii: "Q"): try value(number.uint64Value)
        default: .integer(number.int64Value)
        }
    }

    private static func value(_ integer: some BinaryInteger) throws(PropertyListRefusal) -> PropertyListValue {
        if let exact = PropertyListValue(exactly: integer) { return exact }
        throw PropertyListRefusal(
            "is \(integer), and an integer is from \(Int64.min) to \(Int64.max). Use a string or a real")
    }
}
