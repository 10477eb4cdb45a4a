/// A thread as `NSThread`'s description shows it in a log message.
///
/// Apple's `{number = 2, name = (null)}`, with or without `<NSThread: 0x600000c44000>` before it, and GNUstep's
/// `<NSThread: 0x55d0c8>{name = (null), num = 7305}`, where the number is the kernel's id.
struct ThreadDescription: Hashable {
    var number: Int
    /// Nil where it says `(null)`.
    var name: String?
    /// The form says the kernel's id and not a count: for the main thread it is the process id.
    var isKernelID: Bool
}

/// What a message consists of: text, and the threads it speaks of.
enum MessagePart: Hashable {
    case text(String)
    case thread(ThreadDescription)

    /// Takes a message apart. Text that is not quite a thread's description is text.
    static func parts(of message: String) -> [MessagePart] {
        var parts: [MessagePart] = []
        var text = Substring()
        var rest = message[...]
        while let brace = rest.firstIndex(of: "{") {
            text += rest[..<brace]
            rest = rest[brace...]
            if let (description, end) = description(at: rest) {
                let before = withoutObjectAddress(text)
                if !before.isEmpty { parts.append(.text(String(before))) }
                parts.append(.thread(description))
                text = ""
                rest = rest[end...]
            } else {
                text += rest.prefix(1)
                rest = rest.dropFirst()
            }
        }
        text += rest
        if !text.isEmpty { parts.append(.text(String(text))) }
        return parts
    }

    private static func description(at text: Substring) -> (ThreadDescription, end: Substring.Index)? {
        guard let close = text.firstIndex(of: "}") else { return nil }
        let inside = text[..<close].dropFirst()
        let isApples = inside.hasPrefix("number = ")
        guard isApples || inside.hasPrefix("name = ") else { return nil }
        // The name may contain a comma, the number cannot: it is the first of the one form and the last of the other.
        guard let comma = isApples ? inside.firstIndex(of: ",") : inside.lastIndex(of: ",") else { return nil }
        let halves = [inside[..<comma], inside[comma...].dropFirst(2)]
        let (number, name) = isApples ? (halves[0], halves[1]) : (halves[1], halves[0])
        guard number.hasPrefix(isApples ? "number = " : "num = "), name.hasPrefix("name = "),
            let value = Int(number.drop { $0 != "=" }.dropFirst(2))
        else { return nil }
        let said = String(name.dropFirst("name = ".count))
        return (
            ThreadDescription(number: value, name: said == "(null)" ? nil : said, isKernelID: !isApples),
            text.index(after: close)
        )
    }

    /// Drops `<NSThread: 0x…>` from the end: an address says nothing that another run could repeat.
    private static func withoutObjectAddress(_ text: Substring) -> Substring {
        guard text.hasSuffix(">"), let open = text.lastIndex(of: "<") else { return text }
        let inside = text[open...].dropFirst().dropLast()
        guard let colon = inside.firstRange(of: ": 0x"), inside[..<colon.lowerBound].hasSuffix("Thread"),
            inside[colon.upperBound...].allSatisfy(\.isHexDigit)
        else { return text }
        return text[..<open]
    }
}
