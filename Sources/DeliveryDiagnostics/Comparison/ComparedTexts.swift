internal import DeliveryRecording

/// Maps texts to numbers: equal texts of both recordings have the same number.
struct ComparedTexts {
    /// A text as it is compared: without addresses, and separated from the threads it mentions.
    struct Form {
        /// The number of the whole text, used to compare names.
        var text: Int32
        /// The number of the text without addresses and threads.
        var skeleton: Int32
        var threads: [ThreadDescription] = []
    }

    private var numbers: [String: Int32] = [:]

    mutating func number(_ text: String) -> Int32 {
        if let known = numbers[text] { return known }
        numbers[text] = Int32(numbers.count)
        return Int32(numbers.count - 1)
    }

    mutating func form(of text: String) -> Form {
        let number = number(text)
        var form = Form(text: number, skeleton: number)
        // A text without these has no thread and no address.
        if text.utf8.contains(where: { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "x") }) {
            let parts = MessagePart.parts(of: text).map { part in
                switch part {
                case .text(let text): return Self.withoutAddresses(text)
                case .thread(let thread):
                    form.threads.append(thread)
                    return "{}"
                }
            }
            form.skeleton = self.number(parts.joined())
        }
        return form
    }

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
