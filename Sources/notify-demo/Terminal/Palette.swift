import Foundation
import SystemPackage

/// Colours, if they are wanted: on a terminal that can show them, unless `NO_COLOR` is set and not empty.
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

    private func coloured(_ text: String, _ code: Int) -> String {
        isColoured ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
