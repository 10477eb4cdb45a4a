/// A thread in the format of `NSThread`'s description.
///
/// Apple's is `{number = 2, name = (null)}`, with or without `<NSThread: 0x600000c44000>` before it. GNUstep's is
/// `<NSThread: 0x55d0c8>{name = (null), num = 7305}`, with the kernel's id as the number.
struct ThreadDescription: Hashable {
    var number: Int
    /// Nil for `(null)`.
    var name: String?
    /// True if the number is the kernel's id. The main thread's is the process id.
    var isKernelID: Bool
}

/// A part of a message: text, or a thread that it mentions.
enum MessagePart: Hashable {
    case text(String)
    case thread(ThreadDescription)

    /// Splits a message in one pass. An incomplete thread description is text. Addresses of threads are removed,
    /// because they differ in each run.
    static func parts(of message: String) -> [MessagePart] {
        var parts: [MessagePart] = []
        let bytes = message.utf8
        var textStart = bytes.startIndex
        var search = textStart
        while let open = bytes[search...].firstIndex(of: UInt8(ascii: "{")) {
            search = bytes.index(after: open)
            // The search for the closing brace is limited, so that a message with many braces is read in linear time.
            guard let close = bytes[search...].prefix(longestDescription).firstIndex(of: UInt8(ascii: "}")),
                let description = description(of: message[search..<close])
            else { continue }
            appendText(message[textStart..<open], to: &parts)
            parts.append(.thread(description))
            search = bytes.index(after: close)
            textStart = search
        }
        appendText(message[textStart...], to: &parts)
        return parts
    }

    /// In bytes, between the braces.
    private static let longestDescription = 256

    private static func appendText(_ text: Substring, to parts: inout [MessagePart]) {
        let text = text.contains(": 0x") ? text.replacing(/<\w*Thread: 0x[0-9a-fA-F]+>/, with: "") : text
        if !text.isEmpty { parts.append(.text(String(text))) }
    }

    /// - Parameter inside: the text between the braces.
    private static func description(of inside: Substring) -> ThreadDescription? {
        let isApples = inside.hasPrefix("number = ")
        guard isApples || inside.hasPrefix("name = ") else { return nil }
        // The name may contain commas, but the number cannot.
        guard let comma = isApples ? inside.firstIndex(of: ",") : inside.lastIndex(of: ",") else { return nil }
        let halves = [inside[..<comma], inside[comma...].dropFirst(2)]
        let (number, name) = isApples ? (halves[0], halves[1]) : (halves[1], halves[0])
        guard number.hasPrefix(isApples ? "number = " : "num = "), name.hasPrefix("name = "),
            let value = Int(number.drop { $0 != "=" }.dropFirst(2))
        else { return nil }
        let said = String(name.dropFirst("name = ".count))
        return ThreadDescription(number: value, name: said == "(null)" ? nil : said, isKernelID: !isApples)
    }
}

extension MessagePart {
    /// Shorter hexadecimal numbers are the program's own data; longer ones are not addresses.
    private static let addressDigits = 9...16

    static func withoutAddresses(_ text: String) -> String {
        var pieces = text.split(separator: "0x", omittingEmptySubsequences: false)
        for index in pieces.indices.dropFirst() {
            let rest = pieces[index].drop(while: \.isHexDigit)
            if addressDigits.contains(pieces[index].count - rest.count) { pieces[index] = "…" + rest }
        }
        return pieces.joined(separator: "0x")
    }
}
