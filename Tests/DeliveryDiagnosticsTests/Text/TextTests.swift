import DeliveryRecording
import XCTest

@testable import DeliveryDiagnostics

final class TextTests: XCTestCase {
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

    func testHeadingsHaveSeveralLinesAndGroups() {
        let table = Table(
            [
                .text("of"), .number("target\ngone"), .number("p50", group: "handler", minimum: 5),
                .number("max", group: "handler"),
            ], rows: [["A", "1", "2", "3"]])
        XCTAssertEqual(
            table.lines(), ["               handler", "    target", "of    gone    p50  max", "A        1      2    3"])
    }

    func testWrappedColumnsShareTheRestOfTheLine() {
        let table = Table(
            [.text("fact"), .wrapped("one", share: 2), .wrapped("other")],
            rows: [
                ["F1", "the quick brown fox jumps over the lazy dog", "ok  yes\nand a second line"], ["F2", "-", "-"],
            ])
        XCTAssertEqual(
            table.lines(width: 60),
            [
                "fact  one                                 other",
                "F1    the quick brown fox jumps over the  ok  yes",
                "      lazy dog                            and a second line",
                "F2    -                                   -",
            ])
    }

    func testAWordThatIsTooLongStandsFurtherToTheLeft() {
        let table = Table(
            [.number("posted"), .number("delivered"), .wrapped("name")],
            rows: [["1", "2", "short at /a/very/long/path/that/does/not/fit.swift:14, more"]])
        XCTAssertEqual(
            table.lines(width: 40),
            [
                "posted  delivered  name", "     1          2  short at",
                "  /a/very/long/path/that/does/not/fit.swift:14,", "                   more",
            ])
    }

    func testNumbersThatDoNotFitAreInATableBelow() {
        let columns: [Table.Column] = [
            .text("name"), .number("posted"), .number("p50", group: "time"), .number("max", group: "time"),
        ]
        XCTAssertEqual(
            Table(columns, rows: [["A", "1", "2", "3"]]).lines(width: 20),
            ["name  posted", "A          1", "          time", "name  p50  max", "A       2    3"])
    }

    func testColumnsHaveLimits() {
        let table = Table([.text(width: 4...6), .text("x")], rows: [["a", "1"], ["abcdefgh", "2"]])
        XCTAssertEqual(table.lines(), ["        x", "a       1", "abcde…  2"])
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
        XCTAssertEqual(DisplayWidth.fitMiddle("PriceDidChange", to: 9, ellipsis: "…"), "Pric…ange")
        XCTAssertEqual(DisplayWidth.fitMiddle("東京都東京", to: 6, ellipsis: "…"), "東…京")
        XCTAssertEqual(DisplayWidth.fitMiddle("abc", to: 3, ellipsis: "…"), "abc")
        XCTAssertEqual(DisplayWidth.fitMiddle("abc", to: 2, ellipsis: "..."), "..")
    }

    // MARK: Durations and numbers

    func testDurationsHaveThreeDigitsAndASuitableUnit() {
        let texts: [(Int64, String, String)] = [
            (0, "0 ns", "0 ns"), (999, "999 ns", "999 ns"), (1000, "1 µs", "1.00 µs"), (9_994, "9.99 µs", "9.99 µs"),
            (9_996, "10 µs", "10.0 µs"), (99_960, "100 µs", "100 µs"), (412_499, "412 µs", "412 µs"),
            (999_600, "1 ms", "1.00 ms"), (5_743_000, "5.74 ms", "5.74 ms"), (1_234_000_000, "1.23 s", "1.23 s"),
            (5_000_000_000_000, "5000 s", "5000 s"), (9_999_500_000_000, "2.78 h", "2.78 h"),
            (86_400_000_000_000, "1 d", "1.00 d"),
        ]
        for (nanoseconds, text, cell) in texts {
            XCTAssertEqual(ElapsedTime(nanoseconds: nanoseconds).description, text)
            XCTAssertEqual(ElapsedTime.cell(UInt64(nanoseconds)), cell)
            XCTAssertEqual(ElapsedTime(ElapsedTime.exact(nanoseconds))?.nanoseconds, nanoseconds)
        }
        XCTAssertEqual(ElapsedTime(nanoseconds: -41_000).description, "-41 µs")
        XCTAssertEqual(ElapsedTime(nanoseconds: .min).description, "-106752 d")
        XCTAssertEqual(ElapsedTime.cell(nil), "–")
    }

    func testDurationsAreParsedWithAUnit() {
        let parsed: [(String, Int64)] = [
            ("2m", 120_000_000_000), ("0.5 m", 30_000_000_000), ("2ms", 2_000_000), ("1.5us", 1500), ("3 µs", 3000),
            ("1h", 3_600_000_000_000),
        ]
        for (text, nanoseconds) in parsed { XCTAssertEqual(ElapsedTime(text)?.nanoseconds, nanoseconds, text) }
        for text in ["", "5", "ms", "-3ms", "1.2.3s", "1e400s", "4000000000s", "3 w", "٣ms"] {
            XCTAssertNil(ElapsedTime(text), text)
        }
    }

    func testNumbersHaveAtMostSevenCharacters() {
        XCTAssertEqual(
            [Quantity.count(0), Quantity.recorded(0), Quantity.exact(0), Quantity.count(nil)], ["0", "–", "–", "–"])
        XCTAssertEqual([Quantity.count(999_999), Quantity.count(1_000_000)], ["999999", "1.00 M"])
        XCTAssertEqual(
            [0.417, 45.61, 998, 999.5, 2e9].map { Quantity.number($0) }, ["0.42", "45.6", "998", "1.00 k", "2.00 G"])
        XCTAssertEqual(
            [counted(1, "post"), counted(2, "post"), counted(0, "process", plural: "processes")],
            ["1 post", "2 posts", "0 processes"])
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
}
