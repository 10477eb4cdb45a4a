import SharedTesting
import XCTest

@testable import DeliveryDiagnostics

final class RuleParserTests: XCTestCase {
    func testEachFormOfRulesIsReadWithItsNamesPlaceTimeCountAndKind() throws {
        let table = #"""
            Saved on main => on PLACE ["Saved"] main
            Saved not on thread 3 => not on PLACE ["Saved"] thread("3")
            "Build done"  on	thread "the cook" # the window's => on PLACE ["Build done"] thread("the cook")
            Änderung observed => observed ["Änderung"]; "\u0041 # b" observed # a comment => observed ["A # b"]
            every post observed => post observed []; on on main => on PLACE ["on"] main
            "everything" delivered => delivered ["everything"]; everything delivered => delivered []
            Saved within 1.5s => within TIME ["Saved"] 1.5 s; "each" within 2 m => within TIME ["each"] 120 s
            Saved at most 3 waiting => at most COUNT waiting ["Saved"] 3
            before before on => before OTHER [on PLACE] ["before", "on"]
            A before B on main => before OTHER [on PLACE] ["A", "B"] main
            each A before B => NAME before OTHER [on PLACE] ["A", "B"]
            no handler longer than 16 ms => handler [on PLACE] longer than TIME [] 16 ms
            no handler on thread cook longer than 250 µs => handler [on PLACE] longer than TIME [] thread("cook") 250 µs
            no observer left at exit => observer left at exit []
            no finding => finding []; no problem => problem []; no wrongThread => KIND [] wrongThread
            no severalThreads => KIND [] severalThreads
            """#
        for line in table.split(separator: "\n").flatMap({ $0.split(separator: "; ") }) {
            let texts = line.components(separatedBy: " => ")
            let rule = try XCTUnwrap(try RuleParser.rule(texts[0], source: ""), texts[0])
            let parts = [
                rule.form.pattern.split(separator: " ").dropFirst().joined(separator: " "), "\(rule.names)",
                rule.place.map { "\($0)" }, rule.time.nanoseconds == 0 ? nil : "\(rule.time)",
                rule.count == 0 ? nil : "\(rule.count)", rule.kind.isEmpty ? nil : rule.kind,
            ]
            XCTAssertEqual(parts.compactMap(\.self).joined(separator: " "), texts.last)
        }
    }

    func testAnErrorHasThePlaceTheColumnTheWordWhatWasExpectedAndTheNearestSpelling() {
        let afterName = #"expected "on", "not", "observed", "delivered", "within", "at" or "before", found"#
        let place = "expected main, or thread and its name or number, found"
        let duration = "expected a duration with its unit, such as 16 ms, found"
        let kinds = "a kind of finding (see 'notify-demo diagnose --kinds')"
        let quotes = "the name in quotes is not valid. Write it as a string of JSON, with a space after it."
        let table = """
            Saved onn main => 7: \(afterName) "onn". Did you mean "on"?
              Saved obsrved => 9: \(afterName) "obsrved". Did you mean "observed"?
            Build finished on main => 7: \(afterName) "finished". A name that contains spaces is written in quotes.
            Saved   # later => 6: \(afterName) the end of the rule. A name that contains spaces is written in quotes.
            No finding => 1: expected the name of a notification, "each", "every", "everything" or "no", found "No". \
            Did you mean "no"?
            Saved on mian => 10: \(place) "mian". Did you mean "main"?
            Saved on thread => 10: \(place) "thread". Did you mean "thread"?
            Saved on => 9: \(place) the end of the rule.
            Saved on main thread => 15: expected the end of the rule, found "thread".
            Opened before => 14: expected the name of another notification, found the end of the rule.
            Saved before Saved => 14: expected the name of another notification, found "Saved".
            Opened before Saved in main => 21: expected the end of the rule or "on", found "in". Did you mean "on"?
            no wrongthread => 4: expected "handler", "observer", "finding", "problem" or \(kinds), \
            found "wrongthread". Did you mean "wrongThread"?
            no handler longer than 5 => 24: \(duration) "5".
            Saved at most -1 waiting => 15: expected a number, found "-1".
            Saved at most 3 wating => 17: expected "waiting", found "wating". Did you mean "waiting"?
            every Saved observed => 7: expected "post", found "Saved".
            "Build done on main => 1: \(quotes)
            "Build done"on main => 1: \(quotes)
            Saved "on" main => 7: \(afterName) "on". Did you mean "on"?
            """
        for line in table.split(separator: "\n") {
            let texts = line.components(separatedBy: " => ")
            XCTAssertThrowsError(try RuleParser.rule(texts[0], source: "rules.txt:3"), texts[0]) { error in
                XCTAssertEqual("\(error)", "rules.txt:3:\(texts[1])")
            }
        }
        assertThrows(RuleError(source: "--rule \"\"", column: nil, problem: "the rule is empty.")) {
            try RuleParser.rule(argument: "", option: "--rule")
        }
    }

    func testAFileHasARuleOnEachLineWithCommentsAndAllErrorsWithTheirLines() throws {
        let rules = try RuleFile.rules("# rules\n\nSaved on main # always\r\n  no finding\n", path: "rules.txt")
        XCTAssertEqual(rules.map(\.description), ["Saved on main", "no finding"])
        XCTAssertEqual(rules.map(\.origin?.line), [3, 4])
        XCTAssertNil(try RuleFile.rules("no finding", path: "-")[0].origin)
        let wrong = "no finding\nSaved to main\nno problem\nevery"
        XCTAssertThrowsError(try RuleFile.rules(wrong, path: "rules.txt")) { error in
            let places = (error as? RuleErrors)?.errors.map { "\($0.source):\($0.column ?? 0)" }
            XCTAssertEqual(places, ["rules.txt:2:7", "rules.txt:4:6"])
        }
        let none = "standard input: has no rule. Write one on each line: Saved on main"
        XCTAssertThrowsError(try RuleFile.rules("# none\n\n", path: "-")) { XCTAssertEqual("\($0)", none) }
    }
}
