import SharedTesting
import XCTest

@testable import DeliveryDiagnostics

/// What a POSIX shell makes of quoted text.
final class ShellTextTests: XCTestCase {
    private static let names = [
        "Saved", "", " ", "a b", "it's", "\"quoted\"", "$(touch pwned)", "`touch pwned`", "$HOME", "~", "a\\b", "*",
        "!",
        "-name", "--", "#1", "a;b", "a&b", "100%", "%s", "東京", "é", "a\nb", "a\n", "\n", "\n\na\n\n",
        "\u{1B}[31m%s'\\7",
        "\t1", "\u{85}", "a\u{200B}b", "=ls", "{a,b}", "jobs.JobArrived",
    ]

    func testAShellReadsAQuotedWordAsTheText() throws {
        let lines = Self.names.map { "printf '<%s>\\n' \(ShellText.word($0))\n" }.joined()
        for shell in ["sh", "bash"] {
            let outcome = try Shell.run(shell, input: lines)
            XCTAssertEqual(outcome.output, Self.names.map { "<\($0)>\n" }.joined(), shell)
            XCTAssertEqual(outcome.errors, "")
        }
    }

    func testAQuotedWordHasNoControlCharactersButTheNewlinesAtItsEnd() {
        for name in Self.names {
            let word = ShellText.word(name)
            XCTAssertFalse(word.unicodeScalars.contains { $0.properties.generalCategory == .control && $0 != "\n" })
            XCTAssertEqual(word.contains("\n"), name.hasSuffix("\n"), word)
        }
    }

    func testAPlainWordIsNotQuotedAndALeadingDashIsNoOption() {
        XCTAssertEqual(ShellText.word("jobs.JobArrived"), "jobs.JobArrived")
        XCTAssertEqual(ShellText.option("--name", "Saved"), "--name Saved")
        XCTAssertEqual(ShellText.option("--name", "-it's"), "'--name=-it'\\''s'")
        XCTAssertEqual(ShellText.path("-run 1"), "'./-run 1'")
        XCTAssertEqual(ShellText.path("-"), "-")
    }
}
