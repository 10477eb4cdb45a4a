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
        let (skeleton, threads) = Self.parts(of: text)
        return Form(text: number(text), skeleton: number(skeleton), threads: threads)
    }

    /// A text without addresses and with `{}` for each thread, and the threads.
    static func parts(of text: String) -> (skeleton: String, threads: [ThreadDescription]) {
        // A text without these has no thread and no address.
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "x") }) else {
            return (text, [])
        }
        var threads: [ThreadDescription] = []
        let parts = MessagePart.parts(of: text).map { part in
            switch part {
            case .text(let text): return withoutAddresses(text)
            case .thread(let thread):
                threads.append(thread)
                return "{}"
            }
        }
        return (parts.joined(), threads)
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
