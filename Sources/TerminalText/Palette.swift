internal import Foundation

/// The colors of a stream, which are the same in all commands.
///
/// All text for a terminal goes through a palette. It escapes the control characters of the text, so that the only ones
/// are those of its own colors, and newlines.
package struct Palette: Sendable {
    private let isColored: Bool

    package init(isColored: Bool) { self.isColored = isColored }

    /// Colors on a terminal, unless `NO_COLOR` is set.
    package init(for stream: TerminalStream) {
        let environment = ProcessInfo.processInfo.environment
        isColored = stream.isTerminal && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
    }

    package func plain(_ text: String) -> String { ShownText.lines(text) }

    /// A success.
    package func good(_ text: String) -> String { colored(text, 32) }

    /// A failure or a problem.
    package func bad(_ text: String) -> String { colored(text, 31) }

    /// Colors the texts of a thread alike.
    package func numbered(_ text: String, _ number: Int) -> String {
        let codes = [36, 33, 35, 32, 34, 96, 93, 95, 92, 94]
        return colored(text, codes[number % codes.count])
    }

    private func colored(_ text: String, _ code: Int) -> String {
        isColored ? "\u{1B}[\(code)m\(plain(text))\u{1B}[0m" : plain(text)
    }
}
