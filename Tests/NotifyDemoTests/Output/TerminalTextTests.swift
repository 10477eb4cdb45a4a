import SharedTesting
import TerminalText
import XCTest

final class TerminalTextTests: XCTestCase {
    func testATableAlignsColumnsByDisplayWidthHasLimitsAndGroupsAndWhatDoesNotFitIsInATableBelow() {
        let times: [Table.Column] = [.text("name"), .number("posted"), .number("p50"), .number("max", group: "time")]
        for (columns, rows, width, lines) in [
            (
                [.text("name"), .number("number"), .text()],
                [["東京", "5", "a"], ["\u{1B}[31mred\u{1B}[0m", "12345", ""], ["e\u{301}", "1.5", "b"]], .max,
                [
                    "name  number", "東京       5  a", "\u{1B}[31mred\u{1B}[0m    12345", "e\u{301}        1.5  b",
                ]
            ),
            (
                [.text("of"), .number("target\ngone"), .number("p50", group: "handler", minimum: 5)],
                [["A", "1", "2"]], .max,
                ["          handler", "    target", "of    gone    p50", "A        1      2"]
            ),
            (
                [.text(width: 4...6), .text("x")], [["a", "1"], ["abcdefgh", "2"]], .max,
                ["        x", "a       1", "abcde…  2"]
            ),
            (
                times, [["A", "1", "2", "3"]], 20,
                ["name  posted  p50", "A          1    2", "     time", "name  max", "A       3"]
            ),
            (
                [.text("fact"), .wrapped("one"), .wrapped("other")],
                [
                    ["F1", "the quick brown fox jumps over the lazy dog", "ok  yes\nand a second line"],
                    ["F2", "-", "-"],
                ],
                60,
                [
                    "fact  one                         other",
                    "F1    the quick brown fox jumps   ok  yes",
                    "      over the lazy dog           and a second line",
                    "F2    -                           -",
                ]
            ),
        ] as [([Table.Column], [[String]], Int, [String])] {
            XCTAssertEqual(Table(columns, rows: rows).lines(width: width), lines)
        }
    }

    func testLinesAreWrappedBetweenWordsOnly() {
        for (text, width, indent, lines) in [
            ("one two three", 7, "", ["one two", "three"]), ("", 5, "", [""]), ("one two", .max, " ", [" one two"]),
            ("a /very/long/path b", 5, "", ["a", "/very/long/path", "b"]), ("東京 東京", 8, "", ["東京", "東京"]),
            ("one  two three", 9, " ", [" one  two", "  three"]),
        ] { XCTAssertEqual(WrappedText.lines(text, width: width, indent: indent, hanging: indent.count), lines) }
        XCTAssertEqual(DisplayWidth.of("e\u{301}東京\u{1F600}\u{1B}[1;31mred\u{1B}[0m"), 10)
        XCTAssertEqual(DisplayWidth.fit("東京都", to: 4, ellipsis: "…"), "東…")
    }

    func testForeignTextIsEscaped() {
        for (escaped, text) in [
            (Excerpt.of("plain ж 漢"), "plain ж 漢"),
            (Excerpt.of("\u{1B}[2J\r\u{7}\u{202E}"), "\\u{1B}[2J\\r\\u{07}\\u{202E}"),
            (ShownText.escaped("a\n\u{1F600}\u{E000}\u{E0001}"), "a\\u000a\u{1F600}\\ue000\\udb40\\udc01"),
            (ShownText.name("Saved"), "Saved"), (ShownText.name("a \"b\""), "\"a \\\"b\\\"\""),
            (XMLText.escaped("<a b=\"c\">&\u{1}\u{1F600}\r"), "&lt;a b=&quot;c&quot;&gt;&amp;\\u{1}\u{1F600}&#13;"),
            (Palette(isColored: true).bad("x\u{7}"), "\u{1B}[31mx\\u0007\u{1B}[0m"),
        ] { XCTAssertEqual(escaped, text) }
        XCTAssertEqual(Excerpt.of(String(repeating: "a", count: 500)).count, 121)
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
            XCTAssertEqual(outcome.output, names.map { "<\($0)>\n" }.joined(), shell + outcome.errors)
        }
        for (quoted, text) in [
            (ShellText.word("\n\u{1B}b"), "\"$(printf '\\012\\033\\142')\""),
            (ShellText.word("jobs.JobArrived"), "jobs.JobArrived"),
            (ShellText.option("--name", "-it's"), "'--name=-it'\\''s'"), (ShellText.path("-run 1"), "'./-run 1'"),
            (ShellText.path("-"), "-"),
        ] { XCTAssertEqual(quoted, text) }
    }
}
