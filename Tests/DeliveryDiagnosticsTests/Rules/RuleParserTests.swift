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
        let table = #"""
            TestNotification on main; Saved on thread "cook" => Saved on thread cook; Saved not on thread 3
            Progress  not	on main  # the window's => Progress not on main; "Build done" on thread "the cook"
            Saved observed; every post observed; Saved delivered; everything delivered; "everything" delivered
            Opened before Saved on thread cook; Opened before Saved; A before B on main; each A before B
            each A before B on thread cook; "each" within 50 ms; Saved within 1.5s => Saved within 1.5 s
            Progress at most 3 waiting; no handler on main longer than 16 ms
            no handler longer than 1.5s => no handler longer than 1.5 s
            no handler on thread cook longer than 250 µs => no handler on thread cook longer than 250 us
            no post longer than 5ms => no post longer than 5 ms; no post longer than 2 m => no post longer than 120 s
            no observer left at exit; at most 100 Progress per second; at most 0 "no" per second; no finding
            no problem; no wrongThread; "no" on main; "every" observed; "#1" on main; "a \"b\" \\ c" observed
            on on main; Änderung observed; before before on on thread thread; "no finding" observed
            "\u0041" observed => A observed; "# no comment" observed # a comment => "# no comment" observed
            """#
        for line in table.split(separator: "\n").flatMap({ $0.split(separator: "; ") }) {
            let texts = line.components(separatedBy: " => ")
            let rule = try XCTUnwrap(try RuleParser.rule(texts[0], source: "rules.txt:3"), texts[0])
            XCTAssertEqual(rule.description, texts.last)
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
        let table = #"""
            Saved onn main => 7: AFTER_NAME "onn". Did you mean "on"?
              Saved obsrved => 9: AFTER_NAME "obsrved". Did you mean "observed"?
            Build finished on main => 7: AFTER_NAME "finished". A name that contains spaces is written in quotes.
            Saved   # later => 6: AFTER_NAME the end of the rule. A name that contains spaces is written in quotes.
            No finding => 4: AFTER_NAME "finding". Did you mean "no" instead of "No"?
            evry post observed => 6: AFTER_NAME "post". Did you mean "every" instead of "evry"?
            Saved on mian => 10: expected "main" or "thread", found "mian". Did you mean "main"?
            Saved on cook => 10: expected "main" or "thread", found "cook". Did you mean "thread cook"?
            Saved on => 9: expected "main" or "thread", found the end of the rule.
            Saved on thread => 16: expected the name or the number of a thread, found the end of the rule.
            Saved not main => 11: expected "on", found "main".
            Saved on main thread => 15: expected the end of the rule, found "thread".
            Opened before => 14: expected the name of another notification, found the end of the rule.
            Opened before Saved in main => 21: expected "on" or the end of the rule, found "in". Did you mean "on"?
            Saved before Saved => 14: a notification cannot come before itself. Name another one.
            no wrongthread => 4: AFTER_NO "wrongthread". Did you mean "wrongThread"?
            no findings => 4: AFTER_NO "findings". Did you mean "finding"?
            no => 3: AFTER_NO the end of the rule. 'notify-demo diagnose --kinds' lists the kinds.
            no handler longr than 5 ms => 12: expected "longer than" or "on", found "longr". Did you mean "longer"?
            no post longer then 5 ms => 16: expected "than", found "then". Did you mean "than"?
            no post longer than 5 => 21: expected a duration with its unit, such as 16 ms, found "5". The units are ns, us, ms, s, m, h and d.
            no observer left => 17: expected "at exit", found the end of the rule.
            at least 5 Progress per second => 4: expected "most", found "least".
            at most many Progress per second => 9: expected a number, found "many".
            at most -1 Progress per second => 9: expected a number, found "-1".
            at most 5 Progress per minute => 24: expected "second", found "minute".
            Saved within 5 => 14: expected a duration with its unit, such as 16 ms, found "5". The units are ns, us, ms, s, m, h and d.
            Saved at most 3 wating => 17: expected "waiting", found "wating". Did you mean "waiting"?
            every Saved observed => 7: expected "post observed", found "Saved".
            "Build done on main => 1: the name has no closing quote.
            "Build done"on main => 13: a space is missing after the closing quote.
            Build"done" on main => 6: there is a quote within the name. Write all of the name in quotes.
            "" on main => 1: the name is empty.
            "a\q" on main => 1: the name in quotes is not valid. Quotes in it are \", backslashes \\, as in JSON.
            Saved "on" main => 7: AFTER_NAME "on". Did you mean "on"?
            """#
        for line in table.split(separator: "\n") {
            let (text, error) = (line.components(separatedBy: " => ")[0], line.components(separatedBy: " => ")[1])
            let expected = error.replacing("AFTER_NAME", with: afterName).replacing("AFTER_NO", with: afterNo)
            XCTAssertEqual(problem(text), "rules.txt:3:\(expected)", text)
        }
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
}
