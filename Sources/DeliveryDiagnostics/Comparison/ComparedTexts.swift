internal import DeliveryRecording

/// Maps texts to numbers: equal texts of both recordings have the same number.
struct ComparedTexts {
    private var numbers: [String: Int32] = [:]

    mutating func number(_ text: String) -> Int32 {
        if let known = numbers[text] { return known }
        let number = Int32(numbers.count)
        numbers[text] = number
        return number
    }

    /// A text as it is compared: without addresses, and separated from the threads it mentions.
    struct Form {
        /// The number of the whole text, used to compare names.
        var text: Int32
        /// The number of the text without addresses and threads.
        var skeleton: Int32
        /// The threads, as a range of `mentions`.
        var mentions: Range<Int32>
    }

    /// The texts of one recording.
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

    /// True if the text may contain a thread or an address.
    private static func mayDiffer(_ text: String) -> Bool {
        var (text, last) = (text, UInt8(0))
        return text.withUTF8 { bytes in
            bytes.contains { byte in
                defer { last = byte }
                return byte == UInt8(ascii: "{") || (byte == UInt8(ascii: "x") && last == UInt8(ascii: "0"))
            }
        }
    }

    /// Shorter hexadecimal numbers are the program's own data; longer ones are not addresses.
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
