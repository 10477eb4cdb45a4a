/// A message as it is compared: its words, and the numbers in it that may be ids of threads and processes, which differ
/// from run to run. Addresses are removed.
struct LogText {
    enum Token: Hashable {
        case id(String)
        /// A thread in the form of `NSThread`'s description.
        ///
        /// - Parameter group: its name, or that of its pool.
        case thread(ThreadDescription, group: String?, isMain: Bool)
    }

    /// The text with a mark for each token.
    let skeleton: String
    let tokens: [Token]

    /// A single digit is an id only after one of these words.
    private static let idWords: Set<String> = ["pid", "tid", "thread"]

    /// - Parameter ids: the ids of both logs.
    /// - Parameter process: the id of the process, which is also that of its main thread on Linux.
    /// - Parameter group: the name, or pool, of a name.
    init(_ text: String, ids: Set<String>, process: String?, group: (String?) -> String?) {
        // A text without these has no thread, no address and no id.
        guard text.utf8.contains(where: { (0x30...0x39).contains($0) || $0 == UInt8(ascii: "{") }) else {
            (skeleton, tokens) = (text, [])
            return
        }
        var (skeleton, tokens) = ("", [Token]())
        for part in MessagePart.parts(of: text) {
            switch part {
            case .thread(let thread):
                skeleton += "\u{0}{}"
                let isMain = thread.number == 1 || thread.isKernelID && "\(thread.number)" == process
                let group = group(thread.name ?? (isMain ? "main" : nil))
                tokens.append(.thread(thread, group: group, isMain: isMain))
            case .text(let text):
                Self.split(MessagePart.withoutAddresses(text), ids, &skeleton, &tokens)
            }
        }
        (self.skeleton, self.tokens) = (skeleton, tokens)
    }

    /// An id without the prefix and the case of hexadecimal numbers.
    static func id(_ text: String) -> String {
        let text = text.lowercased()
        return text.hasPrefix("0x") ? String(text.dropFirst(2)) : text
    }

    private static func split(
        _ text: String, _ ids: Set<String>, _ skeleton: inout String, _ tokens: inout [Token]
    ) {
        var (rest, previous) = (text.utf8[...], text.utf8[..<text.startIndex])
        while let start = rest.firstIndex(where: \.isWordByte) {
            let end = rest[start...].firstIndex { !$0.isWordByte } ?? rest.endIndex
            let word = rest[start..<end]
            skeleton += text[rest.startIndex..<start]
            if word.contains(where: \.isDigit), case let id = id(String(Substring(word))), ids.contains(id),
                id.utf8.count > 1 || idWords.contains(Substring(previous).lowercased())
            {
                skeleton += "\u{0}"
                tokens.append(.id(id))
            } else {
                skeleton += Substring(word)
            }
            (rest, previous) = (rest[end...], word)
        }
        skeleton += text[rest.startIndex...]
    }
}

extension UInt8 {
    var isDigit: Bool { (0x30...0x39).contains(self) }

    fileprivate var isWordByte: Bool { isDigit || (0x61...0x7A).contains(self | 0x20) || self >= 0x80 }
}
