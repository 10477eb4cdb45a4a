import Foundation
import SystemPackage

/// Colours for a terminal that supports them, unless `NO_COLOR` is set and not empty.
struct Palette {
    private let isColoured: Bool

    init(for descriptor: FileDescriptor) {
        let environment = ProcessInfo.processInfo.environment
        isColoured =
            isatty(descriptor.rawValue) == 1 && environment["NO_COLOR", default: ""].isEmpty
            && environment["TERM"] != "dumb"
    }

    func good(_ text: String) -> String { coloured(text, 32) }

    func bad(_ text: String) -> String { coloured(text, 31) }

    /// Colours texts with the same number alike.
    func numbered(_ text: String, _ number: Int) -> String {
        let codes = [36, 33, 35, 32, 34, 96, 93, 95, 92, 94]
        return coloured(text, codes[number % codes.count])
    }

    private func coloured(_ text: String, _ code: Int) -> String {
        isColoured ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
