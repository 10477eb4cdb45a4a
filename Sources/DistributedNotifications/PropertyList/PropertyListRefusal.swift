/// Why a value cannot be part of a userInfo, and where it is. The path is built while the error is thrown, so an
/// accepted value costs nothing for it.
struct PropertyListRefusal: Error {
    private var innerFirst: [PropertyListKey] = []
    private let cause: String

    init(_ cause: String) { self.cause = cause }

    static var tooLarge: Self {
        Self(
            "is where the userInfo exceeds \(Wire.userInfoLimit >> 10) KiB. Write large data to a file, and post its path"
        )
    }

    static var tooDeep: Self { Self("is nested more than \(Wire.depthLimit) arrays and dictionaries deep") }
    static var tooMany: Self { Self("is where the userInfo exceeds \(Wire.valueLimit) values") }
    static var noDate: Self { Self("is a date outside the years 1 to 9999") }
    static var null: Self {
        Self("is null, which a property list cannot contain. Leave the key out, or use an empty string")
    }

    /// The same refusal, of an array or a dictionary that contains the value.
    func inside(_ key: PropertyListKey) -> PropertyListRefusal {
        var refusal = self
        refusal.innerFirst.append(key)
        return refusal
    }

    var error: DistributedError {
        .userInfoNotUsable(path: PropertyListKey.path(innerFirst.reversed()), problem: cause)
    }
}

/// A key of a dictionary, or an index of an array.
struct PropertyListKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ key: String) { (stringValue, intValue) = (key, nil) }
    init(_ index: Int) { (stringValue, intValue) = ("\(index)", index) }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { self.init(intValue) }

    /// The path as written in Swift: `userInfo["sizes"][2]`. The middle of a long path is left out.
    static func path(_ keys: [any CodingKey]) -> String {
        var steps = keys.map { key in
            if let index = key.intValue { return "[\(index)]" }
            let text = key.stringValue
            return text.count > 40 ? "[\"\(text.prefix(39))…\"]" : "[\"\(text)\"]"
        }
        if steps.count > 12 { steps.replaceSubrange(6..<(steps.count - 5), with: ["…"]) }
        return "userInfo" + steps.joined()
    }
}
