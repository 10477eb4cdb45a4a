import DeliveryRecording
import TerminalText

/// The address of a call in a program or library, as the key `at` of a recording has it: `/usr/bin/program+0x12af`.
struct CallAddress: Hashable {
    let module: String
    /// Such as `0x12af`.
    let offset: String

    /// Nil if the text is no such address, or if a symbolizer could not read it.
    init?(_ text: some StringProtocol) {
        guard let plus = text.lastIndex(of: "+"), case let offset = text[text.index(after: plus)...],
            offset.hasPrefix("0x"), offset.count > 2, offset.dropFirst(2).allSatisfy(\.isHexDigit),
            case let module = text[..<plus], module.hasPrefix("/"),
            module.unicodeScalars.allSatisfy({ $0.isPrintable && $0 != "\"" && $0 != "\\" })
        else { return nil }
        (self.module, self.offset) = (String(module), String(offset))
    }

    /// Equal for each way to write the address.
    var value: [String] { [module, String(offset.dropFirst(2).drop { $0 == "0" }).lowercased()] }

    /// A line for the standard input of llvm-symbolizer.
    var query: String { "\"\(module)\" \(offset)" }
}
