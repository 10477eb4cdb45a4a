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

    /// Takes a message apart, in one pass. Text that is not quite a thread's description is text, without the address of
    /// a thread in it: an address says nothing that another run could repeat.
    static func parts(of message: String) -> [MessagePart] {
        var parts: [MessagePart] = []
        let bytes = message.utf8
        var textStart = bytes.startIndex
        var search = textStart
        while let open = bytes[search...].firstIndex(of: UInt8(ascii: "{")) {
            search = bytes.index(after: open)
            // A description is not long, so that a message of many braces is still read in linear time.
            guard let close = bytes[search...].prefix(longestDescription).firstIndex(of: UInt8(ascii: "}")),
                let description = description(of: message[search..<close])
            else { continue }
            appendText(message[textStart..<open].withoutAddress(before: true), to: &parts)
            parts.append(.thread(description))
            search = bytes.index(after: close)
            textStart = search
        }
        appendText(String(message[textStart...]), to: &parts)
        return parts
    }

    /// In bytes, between the braces.
    private static let longestDescription = 256

    private static func appendText(_ text: String, to parts: inout [MessagePart]) {
        let text = text[...].withoutAddress(before: false)
        if !text.isEmpty { parts.append(.text(text)) }
    }

    /// - Parameter inside: what stands between the braces.
    private static func description(of inside: Substring) -> ThreadDescription? {
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
        return ThreadDescription(number: value, name: said == "(null)" ? nil : said, isKernelID: !isApples)
    }
}

extension Substring {
    /// Without `<NSThread: 0x…>` at its end; or with `<NSThread>` for each anywhere in it.
    fileprivate func withoutAddress(before isBeforeBraces: Bool) -> String {
        guard contains(": 0x") else { return String(self) }
        return isBeforeBraces
            ? String(replacing(/<\w*Thread: 0x[0-9a-fA-F]+>$/, with: ""))
            : String(replacing(/<(\w*Thread): 0x[0-9a-fA-F]+>/) { "<\($0.1)>" })
    }
}
