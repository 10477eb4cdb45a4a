import SharedTesting
import TerminalText
import XCTest

final class TerminalTextTests: XCTestCase {
    // MARK: Tables

    func testATableAlignsColumnsByDisplayWidth() {
        let table = Table(
            [.text("name"), .number("number"), .text()],
            rows: [["東京", "5", "a"], ["\u{1B}[31mred\u{1B}[0m", "12345", ""], ["e\u{301}", "1.5", "b"]])
        XCTAssertEqual(
            table.lines(),
            ["name  number", "東京       5  a", "\u{1B}[31mred\u{1B}[0m    12345", "e\u{301}        1.5  b"])
        XCTAssertEqual(Table.text([["a", "bb"], ["ccc", "d"]]), "a    bb\nccc  d")
    }

    func testHeadingsHaveSeveralLinesAndGroupsColumnsHaveLimitsAndThoseThatDoNotFitAreInATableBelow() {
        XCTAssertEqual(
            Table(
                [
                    .text("of"), .number("target\ngone"), .number("p50", group: "handler", minimum: 5),
                    .number("max", group: "handler"),
                ], rows: [["A", "1", "2", "3"]]
            ).lines(), ["               handler", "    target", "of    gone    p50  max", "A        1      2    3"])
        XCTAssertEqual(
            Table([.text(width: 4...6), .text("x")], rows: [["a", "1"], ["abcdefgh", "2"]]).lines(),
            ["        x", "a       1", "abcde…  2"])
        let columns: [Table.Column] = [.text("name"), .number("posted"), .number("p50"), .number("max", group: "time")]
        XCTAssertEqual(
            Table(columns, rows: [["A", "1", "2", "3"]]).lines(width: 20),
            ["name  posted  p50", "A          1    2", "     time", "name  max", "A       3"])
    }

    func testWrappedColumnsShareTheRestOfTheLine() {
        XCTAssertEqual(
            Table(
                [.text("fact"), .wrapped("one"), .wrapped("other")],
                rows: [
                    ["F1", "the quick brown fox jumps over the lazy dog", "ok  yes\nand a second line"],
                    ["F2", "-", "-"],
                ]
            ).lines(width: 60),
            [
                "fact  one                         other",
                "F1    the quick brown fox jumps   ok  yes",
                "      over the lazy dog           and a second line",
                "F2    -                           -",
            ])
    }

    // MARK: Lines

    func testLinesAreWrappedBetweenWordsOnly() {
        XCTAssertEqual(WrappedText.lines("one two three", width: 7), ["one two", "three"])
        XCTAssertEqual(WrappedText.lines("a /very/long/path b", width: 5), ["a", "/very/long/path", "b"])
        XCTAssertEqual(
            WrappedText.lines("one  two three", width: 9, indent: " ", hanging: 2), [" one  two", "   three"])
        XCTAssertEqual(WrappedText.lines("東京 東京", width: 8), ["東京", "東京"])
        XCTAssertEqual(WrappedText.lines("one two", width: .max, indent: " "), [" one two"])
        XCTAssertEqual(WrappedText.lines("", width: 5), [""])
    }

    func testADisplayWidthIsAtLeastThatOfATerminal() {
        let widths = [
            ("abc", 3), ("é", 1), ("e\u{301}", 1), ("東京", 4), ("\u{1F600}", 2), ("\u{1B}[1;31mred\u{1B}[0m", 3),
        ]
        for (text, width) in widths { XCTAssertEqual(DisplayWidth.of(text), width, text) }
        XCTAssertEqual(DisplayWidth.fit("東京都", to: 5, ellipsis: "…"), "東京…")
        XCTAssertEqual(DisplayWidth.fit("東京都", to: 4, ellipsis: "…"), "東…")
        XCTAssertEqual(DisplayWidth.fit("abc", to: 2, ellipsis: "..."), "..")
    }

    func testColorsFollowTheChoice() {
        XCTAssertEqual(Palette(isColored: true).bad("x\u{7}"), "\u{1B}[31mx\\u0007\u{1B}[0m")
        XCTAssertEqual(Palette(isColored: false).bad("x"), "x")
    }

    // MARK: Escaping

    func testForeignTextIsEscaped() {
        XCTAssertEqual(Excerpt.of("plain ж 漢"), "plain ж 漢")
        XCTAssertEqual(Excerpt.of("\u{1B}[2J\r\u{7}\u{202E}"), "\\u{1B}[2J\\r\\u{07}\\u{202E}")
        XCTAssertEqual(Excerpt.of(String(repeating: "a", count: 500)).count, 121)
        XCTAssertEqual(ShownText.escaped("a\n\u{1F600}\u{E000}\u{E0001}"), "a\\u000a\u{1F600}\\ue000\\udb40\\udc01")
        XCTAssertEqual([ShownText.name("Saved"), ShownText.name("a \"b\"")], ["Saved", "\"a \\\"b\\\"\""])
        XCTAssertEqual(
            XMLText.escaped("<a b=\"c\">&\u{1}\u{1F600}\r"), "&lt;a b=&quot;c&quot;&gt;&amp;\\u{1}\u{1F600}&#13;")
    }

    func testAShellReadsAQuotedWordAsTheTextAndItHasNoControlCharacters() throws {
        let names = [
            "Saved", "", " ", "it's", "\"quoted\"", "$(touch pwned)", "`touch pwned`", "~", "a\\b", "*", "!", "-name",
            "--", "#1", "a;b", "a&b", "%s", "東京", "=ls", "{a,b}", "jobs.JobArrived",
            "a\nb", "\u{1B}[31m%s'\\7", "\t1", "\u{85}", "a\u{200B}b",
        ]
        for shell in ["sh", "bash"] {
            let lines = names.map { "printf '<%s>\\n' \(ShellText.word($0))\n" }.joined()
            let outcome = try Shell.run(shell, input: lines)
            XCTAssertEqual(outcome.output, names.map { "<\($0)>\n" }.joined(), shell)
            XCTAssertEqual(outcome.errors, "")
        }
        XCTAssertEqual(ShellText.word("\n\u{1B}b"), "\"$(printf '\\012\\033\\142')\"")
        XCTAssertEqual(ShellText.word("jobs.JobArrived"), "jobs.JobArrived")
        XCTAssertEqual(ShellText.option("--name", "Saved"), "--name Saved")
        XCTAssertEqual(ShellText.option("--name", "-it's"), "'--name=-it'\\''s'")
        XCTAssertEqual(ShellText.path("-run 1"), "'./-run 1'")
        XCTAssertEqual(ShellText.path("-"), "-")
    }
}
