/// A message as it is compared: its words, and the numbers in it that may be ids of threads and processes, which differ
/// from run to run. Addresses are removed, and of threads in the form of `NSThread`'s description the names count.
struct LogText {
    /// The text with a mark for each id.
    private(set) var skeleton = ""
    /// The ids, and the names of threads in a description; empty for the id of a thread without lines.
    private(set) var ids: [String] = []

    /// A single digit is an id only after one of these words.
    private static let idWords: Set<String> = ["pid", "tid", "thread"]

    /// - Parameters:
    ///   - threads: those of all logs; nil for a recording.
    ///   - process: the id of the process, which is also that of its main thread on Linux.
    init(_ text: String, _ threads: LogThreads? = nil, process: String? = nil) {
        // A text without these has no thread, no address and no id.
        guard text.utf8.contains(where: { $0.isDigit || $0 == UInt8(ascii: "{") }) else {
            skeleton = text
            return
        }
        for (text, thread) in ThreadDescription.split(text) {
            // Shorter hexadecimal numbers are the program's own data.
            let isAddress = text.contains("0x")
            let text = String(isAddress ? text.replacing(/0x[0-9a-fA-F]{9,16}(?![0-9a-fA-F])/, with: "0x…") : text)
            if let threads { split(text, threads.ids) } else { skeleton += text }
            if let thread { add(thread, threads, process) }
        }
    }

    /// For people.
    var shown: String { skeleton.replacing("\u{0}", with: "…") }

    /// An id without the prefix and the case of hexadecimal numbers.
    static func id(_ text: String) -> String {
        let text = text.lowercased()
        return text.hasPrefix("0x") ? String(text.dropFirst(2)) : text
    }

    private mutating func add(_ thread: ThreadDescription, _ threads: LogThreads?, _ process: String?) {
        let isMain = thread.number == 1 || thread.isKernelID && "\(thread.number)" == process
        let pool = thread.name.flatMap(LogThreads.stem).flatMap { threads?.isUnordered($0) ?? false ? $0 : nil }
        skeleton += "{\u{0}}"
        ids.append("\(isMain ? "main thread" : "thread") \(pool ?? thread.name ?? "")")
        guard let threads, thread.isKernelID, !isMain, pool == nil else { return }
        skeleton += "\u{0}"
        ids.append(threads.ids.contains("\(thread.number)") ? "\(thread.number)" : "")
    }

    private mutating func split(_ text: String, _ known: Set<String>) {
        var (rest, previous) = (text.utf8[...], text.utf8[..<text.startIndex])
        while let start = rest.firstIndex(where: \.isWordByte) {
            let end = rest[start...].firstIndex { !$0.isWordByte } ?? rest.endIndex
            let word = rest[start..<end]
            skeleton += text[rest.startIndex..<start]
            if word.contains(where: \.isDigit), case let id = Self.id(String(Substring(word))), known.contains(id),
                id.utf8.count > 1 || Self.idWords.contains(Substring(previous).lowercased())
            {
                skeleton += "\u{0}"
                ids.append(id)
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
