/// Numbers for texts, the same for the same text in both recordings.
struct ComparedTexts {
    private var numbers: [String: Int32] = [:]

    mutating func number(_ text: String) -> Int32 {
        if let known = numbers[text] { return known }
        let number = Int32(numbers.count)
        numbers[text] = number
        return number
    }

    /// A text of a recording, as messages are compared: without addresses, and apart from the threads it speaks of.
    struct Form {
        /// Of the whole text: names are compared by it.
        var text: Int32
        /// Of the text without addresses and threads.
        var skeleton: Int32
        /// Where the threads are, in `mentions`.
        var mentions: Range<Int32>
    }

    /// The texts of a recording.
    struct Table {
        fileprivate(set) var forms: [Form] = []
        fileprivate(set) var mentions: [ThreadDescription] = []
    }

    mutating func table(of recording: Recording) -> Table {
        var table = Table()
        table.forms.reserveCapacity(recording.strings.count)
        for text in recording.strings {
            let none = Int32(table.mentions.count)
            let number = number(text)
            var form = Form(text: number, skeleton: number, mentions: none..<none)
            if Self.mayDiffer(text) {
                var skeleton = ""
                for part in MessagePart.parts(of: text) {
                    switch part {
                    case .text(let text): skeleton += Self.withoutAddresses(text)
                    case .thread(let thread):
                        skeleton += "{}"
                        table.mentions.append(thread)
                    }
                }
                form.skeleton = self.number(skeleton)
                form.mentions = none..<Int32(table.mentions.count)
            }
            table.forms.append(form)
        }
        return table
    }

    /// Whether there may be a thread or an address in it.
    private static func mayDiffer(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var last: UInt8 = 0
            for byte in bytes {
                if byte == UInt8(ascii: "{") || (byte == UInt8(ascii: "x") && last == UInt8(ascii: "0")) { return true }
                last = byte
            }
            return false
        }
    }

    /// Fewer hexadecimal digits are a number that the program says, more are none of an address.
    private static let addressDigits = 9...16

    private static func withoutAddresses(_ text: String) -> String {
        var pieces = text.split(separator: "0x", omittingEmptySubsequences: false)
        for index in pieces.indices.dropFirst() {
            let rest = pieces[index].drop(while: \.isHexDigit)
            if addressDigits.contains(pieces[index].count - rest.count) { pieces[index] = "…" + rest }
        }
        return pieces.joined(separator: "0x")
    }
}
