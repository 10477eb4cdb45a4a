import SharedTesting
import XCTest

@testable import DeliveryDiagnostics

final class RuleParserTests: XCTestCase {
    private func problem(_ text: String) -> String? {
        do {
            _ = try RuleParser.rule(text, source: "rules.txt:3")
            return nil
        } catch { return error.description }
    }

    func testTheTextOfARuleIsItsCanonicalFormAndIsReadAgain() throws {
        for (text, canonical) in [
            ("TestNotification on main", nil), ("Saved on thread \"cook\"", "Saved on thread cook"),
            ("Progress  not\ton main  # the window's", "Progress not on main"), ("Saved not on thread 3", nil),
            ("\"Build done\" on thread \"the cook\"", nil), ("Saved observed", nil), ("every post observed", nil),
            ("Saved delivered", nil), ("everything delivered", nil), ("\"everything\" delivered", nil),
            ("Opened before Saved on thread cook", nil), ("Opened before Saved", nil), ("A before B on main", nil),
            ("each A before B", nil), ("each A before B on thread cook", nil), ("\"each\" within 50 ms", nil),
            ("Saved within 1.5s", "Saved within 1.5 s"), ("Progress at most 3 waiting", nil),
            ("no handler on main longer than 16 ms", nil),
            ("no handler longer than 1.5s", "no handler longer than 1.5 s"),
            ("no handler on thread cook longer than 250 µs", "no handler on thread cook longer than 250 us"),
            ("no post longer than 5ms", "no post longer than 5 ms"), ("no observer left at exit", nil),
            ("no post longer than 2 m", "no post longer than 120 s"),
            ("at most 100 Progress per second", nil), ("at most 0 \"no\" per second", nil), ("no finding", nil),
            ("no problem", nil), ("no wrongThread", nil), ("\"no\" on main", nil), ("\"every\" observed", nil),
            ("\"#1\" on main", nil), (#""a \"b\" \\ c" observed"#, nil), ("on on main", nil),
            ("Änderung observed", nil),
            ("before before on on thread thread", nil), ("\"no finding\" observed", nil),
            ("\"\\u0041\" observed", "A observed"),
            ("\"# no comment\" observed # a comment", "\"# no comment\" observed"),
        ] as [(String, String?)] {
            let rule = try XCTUnwrap(try RuleParser.rule(text, source: "rules.txt:3"), text)
            XCTAssertEqual(rule.description, canonical ?? text)
            XCTAssertEqual(try RuleParser.rule(rule.description, source: ""), rule)
            XCTAssertFalse(rule.meaning.isEmpty)
        }
    }

    func testEachKindOfFindingIsARule() throws {
        for kind in Finding.Kind.all {
            let rule = try RuleParser.rule("no \(kind.name)", source: "")
            XCTAssertEqual(rule?.kind, kind.name)
        }
    }

    func testAnErrorHasTheFileTheLineTheColumnTheWordWhatWasExpectedAndTheNearestSpelling() {
        let afterName =
            "expected \"on\", \"not on\", \"observed\", \"delivered\", \"within\", \"at most\" or \"before\", found"
        let afterNo =
            "expected \"handler\", \"post longer than\", \"observer left at exit\", \"finding\", \"problem\" or a kind of finding, found"
        for (text, expected) in [
            ("Saved onn main", "7: \(afterName) \"onn\". Did you mean \"on\"?"),
            ("  Saved obsrved", "9: \(afterName) \"obsrved\". Did you mean \"observed\"?"),
            (
                "Build finished on main",
                "7: \(afterName) \"finished\". A name that contains spaces is written in quotes."
            ),
            (
                "Saved   # later",
                "6: \(afterName) the end of the rule. A name that contains spaces is written in quotes."
            ),
            ("No finding", "4: \(afterName) \"finding\". Did you mean \"no\" instead of \"No\"?"),
            ("evry post observed", "6: \(afterName) \"post\". Did you mean \"every\" instead of \"evry\"?"),
            ("Saved on mian", "10: expected \"main\" or \"thread\", found \"mian\". Did you mean \"main\"?"),
            ("Saved on cook", "10: expected \"main\" or \"thread\", found \"cook\". Did you mean \"thread cook\"?"),
            ("Saved on", "9: expected \"main\" or \"thread\", found the end of the rule."),
            ("Saved on thread", "16: expected the name or the number of a thread, found the end of the rule."),
            ("Saved not main", "11: expected \"on\", found \"main\"."),
            ("Saved on main thread", "15: expected the end of the rule, found \"thread\"."),
            ("Opened before", "14: expected the name of another notification, found the end of the rule."),
            (
                "Opened before Saved in main",
                "21: expected \"on\" or the end of the rule, found \"in\". Did you mean \"on\"?"
            ),
            ("no wrongthread", "4: \(afterNo) \"wrongthread\". Did you mean \"wrongThread\"?"),
            ("no findings", "4: \(afterNo) \"findings\". Did you mean \"finding\"?"),
            ("no", "3: \(afterNo) the end of the rule. 'notify-demo diagnose --kinds' lists the kinds."),
            (
                "no handler longr than 5 ms",
                "12: expected \"longer than\" or \"on\", found \"longr\". Did you mean \"longer\"?"
            ),
            ("no post longer then 5 ms", "16: expected \"than\", found \"then\". Did you mean \"than\"?"),
            (
                "no post longer than 5",
                "21: expected a duration with its unit, such as 16 ms, found \"5\". "
                    + "The units are ns, us, ms, s, m, h and d."
            ),
            ("no observer left", "17: expected \"at exit\", found the end of the rule."),
            ("at least 5 Progress per second", "4: expected \"most\", found \"least\"."),
            ("at most many Progress per second", "9: expected a number, found \"many\"."),
            ("at most -1 Progress per second", "9: expected a number, found \"-1\"."),
            ("at most 5 Progress per minute", "24: expected \"second\", found \"minute\"."),
            (
                "Saved within 5",
                "14: expected a duration with its unit, such as 16 ms, found \"5\". "
                    + "The units are ns, us, ms, s, m, h and d."
            ),
            ("Saved at most 3 wating", "17: expected \"waiting\", found \"wating\". Did you mean \"waiting\"?"),
            ("every Saved observed", "7: expected \"post observed\", found \"Saved\"."),
            ("\"Build done on main", "1: the name has no closing quote."),
            ("\"Build done\"on main", "13: a space is missing after the closing quote."),
            ("Build\"done\" on main", "6: there is a quote within the name. Write all of the name in quotes."),
            ("\"\" on main", "1: the name is empty."),
            (
                #""a\q" on main"#,
                #"1: the name in quotes is not valid. Quotes in it are \", backslashes \\, as in JSON."#
            ),
            ("Saved \"on\" main", "7: \(afterName) \"on\". Did you mean \"on\"?"),
        ] { XCTAssertEqual(problem(text), "rules.txt:3:\(expected)", text) }
    }

    func testAnArgumentIsNamedByItsOptionAndMustNotBeEmpty() {
        assertThrows(
            RuleError(
                source: "--rule \"Saved on\"", column: 9,
                problem: "expected \"main\" or \"thread\", found the end of the rule.")
        ) { try RuleParser.rule(argument: "Saved on", option: "--rule") }
        assertThrows(RuleError(source: "--rule \"\"", column: nil, problem: "the rule is empty.")) {
            try RuleParser.rule(argument: "", option: "--rule")
        }
    }

    func testAFileHasARuleOnEachLineWithCommentsAndBlankLinesAndKnowsTheirLines() throws {
        let rules = try RuleFile.rules("# rules\n\nSaved on main # always\r\n  no finding\n", path: "rules.txt")
        XCTAssertEqual(rules.map(\.description), ["Saved on main", "no finding"])
        XCTAssertEqual(rules.map(\.origin?.line), [3, 4])
        XCTAssertNil(try RuleFile.rules("no finding", path: "-")[0].origin)
        assertThrows(
            RuleErrors([
                RuleError(
                    source: "rules.txt:2", column: 7,
                    problem:
                        "expected \"on\", \"not on\", \"observed\", \"delivered\", \"within\", \"at most\" or \"before\", found \"to\". "
                        + "Did you mean \"on\"?"),
                RuleError(
                    source: "rules.txt:4", column: 6, problem: "expected \"post observed\", found the end of the rule."),
            ])
        ) { try RuleFile.rules("no finding\nSaved to main\nno problem\nevery", path: "rules.txt") }
        for text in ["", "# none\n\n"] {
            assertThrows(
                RuleErrors([
                    RuleError(
                        source: "standard input", column: nil,
                        problem: "has no rule. Write one on each line: Saved on main")
                ])
            ) { try RuleFile.rules(text, path: "-") }
        }
    }

    func testANotificationCannotComeBeforeItself() {
        XCTAssertEqual(
            problem("Saved before Saved on main"),
            "rules.txt:3:14: a notification cannot come before itself. Name another one.")
    }
}
