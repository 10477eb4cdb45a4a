internal import Foundation

extension PropertyListValue {
    /// Converts a property list of Foundation's or Swift's types: strings, numbers, `Bool`, dates, data, arrays and
    /// dictionaries. An `NSArray` or `NSDictionary` that contains itself ends the program, because Foundation does not
    /// survive access to its elements.
    ///
    /// - Throws: `.userInfoNotUsable` with the path of a value of another type, of an integer outside 64 bits, or of a
    ///   value that is nested too deeply. Posting checks the other limits of a userInfo.
    public init(_ object: Any) throws(DistributedError) { try self.init(object, depth: 1, at: "userInfo") }

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

    /// - Parameter path: evaluated for an error only.
    private init(_ object: Any, depth: Int, at path: @autoclosure () -> String) throws(DistributedError) {
        switch object {
        case let value as PropertyListValue: self = value
        case let string as String: self = .string(string)
        case let date as Date: self = .date(date)
        case let data as Data: self = .data(data)
        case let array as [Any]:
            try Self.checkDepth(depth, path())
            var values: [PropertyListValue] = []
            for (index, object) in array.enumerated() {
                values.append(try Self(object, depth: depth + 1, at: "\(path())[\(index)]"))
            }
            self = .array(values)
        case let dictionary as [AnyHashable: Any]:
            try Self.checkDepth(depth, path())
            var values = [String: PropertyListValue](minimumCapacity: dictionary.count)
            for (key, object) in dictionary {
                guard let string = key as? String else {
                    let problem = "has the key \(key) of the type \(type(of: key.base)), and keys are strings"
                    throw .userInfoNotUsable(path: path(), problem: problem)
                }
                values[string] = try Self(object, depth: depth + 1, at: "\(path())\(DistributedError.step(string))")
            }
            self = .dictionary(values)
        // Swift's numbers and Bool too. After the containers, which this cast would bridge with all that they contain.
        case let number as NSNumber:
            switch UInt8(bitPattern: number.objCType.pointee) {
            // Foundation has one object for true and one for false.
            case _ where number === NSNumber(value: true) || number === NSNumber(value: false):
                self = .boolean(number.boolValue)
            case UInt8(ascii: "d"), UInt8(ascii: "f"): self = .real(number.doubleValue)
            case UInt8(ascii: "Q") where number.uint64Value > UInt64(Int64.max):
                let problem = "is \(number), and an integer is at most \(Int64.max). Use a string or a real"
                throw .userInfoNotUsable(path: path(), problem: problem)
            default: self = .integer(number.int64Value)
            }
        // On Linux Foundation does not bridge it.
        case let real as CGFloat: self = .real(Double(real))
        default:
            throw .userInfoNotUsable(
                path: path(),
                problem: "is of the type \(type(of: object)), which a property list cannot contain. Use a string, "
                    + "number, boolean, date, data, an array or a dictionary with string keys")
        }
    }

    static func checkDepth(_ depth: Int, _ path: @autoclosure () -> String) throws(DistributedError) {
        guard depth <= Wire.depthLimit else {
            let problem = "is nested more than \(Wire.depthLimit) arrays and dictionaries deep"
            throw .userInfoNotUsable(path: path(), problem: problem)
        }
    }
}

extension [String: PropertyListValue] {
    /// Converts the userInfo of a `Notification`.
    ///
    /// - Throws: `.userInfoNotUsable` as `PropertyListValue.init(_:)` does, and for a key that is not a string.
    public init(userInfo: [AnyHashable: Any]) throws(DistributedError) {
        self = try PropertyListValue(userInfo).dictionaryValue ?? [:]
    }
}
