import ArgumentParser
import DeliveryDiagnostics
import Foundation
import SystemPackage

/// The value of `--color`.
enum ColorChoice: String, ExpressibleByArgument, CaseIterable {
    case auto
    case always
    case never

    static let help = ArgumentHelp("Colour the output. auto: on a terminal, unless NO_COLOR is set.")
}

/// The colours of a stream, which are the same in all commands.
///
/// All text for a terminal goes through a palette. It escapes the control characters of the text, so that the only ones
/// are those of its own colours, and newlines.
struct Palette {
    private let isColored: Bool

    init(_ choice: ColorChoice, for descriptor: FileDescriptor) {
        let environment = ProcessInfo.processInfo.environment
        isColored =
            switch choice {
            case .always: true
            case .never: false
            case .auto:
                isatty(descriptor.rawValue) == 1 && environment["NO_COLOR", default: ""].isEmpty
                    && environment["TERM"] != "dumb"
            }
    }

    func plain(_ text: String) -> String { ShownText.lines(text) }

    /// A success.
    func good(_ text: String) -> String { colored(text, 32) }

    /// A failure or a problem.
    func bad(_ text: String) -> String { colored(text, 31) }

    func result(_ text: String, isGood: Bool) -> String { isGood ? good(text) : bad(text) }

    /// Colours the texts of a thread alike.
    func numbered(_ text: String, _ number: Int) -> String {
        let codes = [36, 33, 35, 32, 34, 96, 93, 95, 92, 94]
        return colored(text, codes[number % codes.count])
    }

    private func colored(_ text: String, _ code: Int) -> String {
        isColored ? "\u{1B}[\(code)m\(plain(text))\u{1B}[0m" : plain(text)
    }
}
