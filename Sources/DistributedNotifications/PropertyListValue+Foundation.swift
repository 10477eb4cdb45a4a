internal import Foundation

extension PropertyListValue {
    /// Converts a property list of Foundation's or Swift's types: strings, numbers, `Bool`, dates, data, arrays and
    /// dictionaries. An `NSArray` or `NSDictionary` that contains itself ends the program, because Foundation does not
    /// survive access to its elements.
    ///
    /// - Throws: `.userInfoNotUsable` with the path of a value of another type, of an integer outside 64 bits, or of a
    ///   value that is nested too deeply. Posting checks the other limits of a userInfo.
    public init(_ object: Any) throws(DistributedError) { self = try Self.value(object, depth: 1) }

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

    private static func value(_ object: Any, depth: Int) throws(DistributedError) -> PropertyListValue {
        switch object {
        case let value as PropertyListValue: return value
        case let string as String: return .string(string)
        case let date as Date: return .date(date)
        case let data as Data: return .data(data)
        case let array as [Any]:
            try checkDepth(depth)
            var values: [PropertyListValue] = []
            for (index, object) in array.enumerated() {
                do throws(DistributedError) {
                    values.append(try value(object, depth: depth + 1))
                } catch {
                    throw error.inside(index: index)
                }
            }
            return .array(values)
        case let dictionary as [AnyHashable: Any]: return .dictionary(try members(dictionary, depth: depth))
        // Swift's numbers and Bool too. After the containers, which this cast would bridge with all that they contain.
        case let number as NSNumber: return try value(number)
        // On Linux Foundation does not bridge it.
        case let real as CGFloat: return .real(Double(real))
        default:
            throw .userInfoNotUsable(
                problem: "is of the type \(type(of: object)), which a property list cannot contain. Use a string, "
                    + "number, boolean, date, data, an array or a dictionary with string keys")
        }
    }

    fileprivate static func members(
        _ dictionary: [AnyHashable: Any], depth: Int
    ) throws(DistributedError) -> [String: PropertyListValue] {
        try checkDepth(depth)
        var values = [String: PropertyListValue](minimumCapacity: dictionary.count)
        for (key, object) in dictionary {
            guard let string = key as? String else {
                throw .userInfoNotUsable(
                    problem: "has the key \(key) of the type \(type(of: key.base)), and keys are strings")
            }
            do throws(DistributedError) {
                values[string] = try value(object, depth: depth + 1)
            } catch {
                throw error.inside(key: string)
            }
        }
        return values
    }

    private static func value(_ number: NSNumber) throws(DistributedError) -> PropertyListValue {
        // Foundation has one object for true and one for false.
        if number === NSNumber(value: true) || number === NSNumber(value: false) { return .boolean(number.boolValue) }
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "d"), UInt8(ascii: "f"): return .real(number.doubleValue)
        case UInt8(ascii: "Q") where number.uint64Value > UInt64(Int64.max):
            throw .userInfoNotUsable(
                problem: "is \(number), and an integer is at most \(Int64.max). Use a string or a real")
        default: return .integer(number.int64Value)
        }
    }

    static func checkDepth(_ depth: Int) throws(DistributedError) {
        guard depth <= Wire.depthLimit else {
            throw .userInfoNotUsable(problem: "is nested more than \(Wire.depthLimit) arrays and dictionaries deep")
        }
    }
}

extension [String: PropertyListValue] {
    /// Converts the userInfo of a `Notification`.
    ///
    /// - Throws: `.userInfoNotUsable` as `PropertyListValue.init(_:)` does, and for a key that is not a string.
    public init(userInfo: [AnyHashable: Any]) throws(DistributedError) {
        self = try PropertyListValue.members(userInfo, depth: 1)
    }
}
