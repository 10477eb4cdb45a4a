/// A message as it is compared: its words, and the numbers in it that may be ids of threads and processes, which differ
/// from run to run. Addresses are removed.
struct LogText {
    enum Token {
        case id(String)
        /// A thread in the form of `NSThread`'s description.
        case thread(ThreadDescription, isMain: Bool)
    }

    /// The text with a mark for each token.
    private(set) var skeleton = ""
    private(set) var tokens: [Token] = []

    /// A single digit is an id only after one of these words.
    private static let idWords: Set<String> = ["pid", "tid", "thread"]

    /// - Parameters:
    ///   - ids: those of all logs.
    ///   - process: the id of the process, which is also that of its main thread on Linux.
    init(_ text: String, ids: Set<String> = [], process: String? = nil) {
        // A text without these has no thread, no address and no id.
        guard text.utf8.contains(where: { $0.isDigit || $0 == UInt8(ascii: "{") }) else {
            skeleton = text
            return
        }
        for part in MessagePart.parts(of: text) {
            switch part {
            case .thread(let thread):
                skeleton += "\u{0}{}"
                let isMain = thread.number == 1 || thread.isKernelID && "\(thread.number)" == process
                tokens.append(.thread(thread, isMain: isMain))
            case .text(let text): split(MessagePart.withoutAddresses(text), ids)
            }
        }
    }

    var threads: [ThreadDescription] {
        tokens.compactMap { if case .thread(let thread, _) = $0 { thread } else { nil } }
    }

    /// For people, with a mark for each id.
    var shown: String { skeleton.replacing("\u{0}{}", with: "{…}").replacing("\u{0}", with: "…") }

    /// An id without the prefix and the case of hexadecimal numbers.
    static func id(_ text: String) -> String {
        let text = text.lowercased()
        return text.hasPrefix("0x") ? String(text.dropFirst(2)) : text
    }

    private mutating func split(_ text: String, _ ids: Set<String>) {
        var (rest, previous) = (text.utf8[...], text.utf8[..<text.startIndex])
        while let start = rest.firstIndex(where: \.isWordByte) {
            let end = rest[start...].firstIndex { !$0.isWordByte } ?? rest.endIndex
            let word = rest[start..<end]
            skeleton += text[rest.startIndex..<start]
            if word.contains(where: \.isDigit), case let id = Self.id(String(Substring(word))), ids.contains(id),
                id.utf8.count > 1 || Self.idWords.contains(Substring(previous).lowercased())
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
    fileprivate var isDigit: Bool { (0x30...0x39).contains(self) }

    fileprivate var isWordByte: Bool { isDigit || (0x61...0x7A).contains(self | 0x20) || self >= 0x80 }
}
