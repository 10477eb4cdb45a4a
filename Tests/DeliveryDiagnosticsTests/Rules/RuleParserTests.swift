import XCTest

@testable import DeliveryDiagnostics

final class RuleParserTests: XCTestCase {
    func testEachFormOfRulesIsReadWithItsNamesPlaceTimeCountAndKind() throws {
        let table = #"""
            Saved on main => on PLACE ["Saved"] 1
            Saved not on thread 3 => not on PLACE ["Saved"] 3
            "Build done"  on	thread "the cook" # the window's => on PLACE ["Build done"] the cook
            Änderung observed => observed ["Änderung"]; "\u0041 # b" observed # a comment => observed ["A # b"]
            every post observed => post observed []; on on main => on PLACE ["on"] 1
            "everything" delivered => delivered ["everything"]; everything delivered => delivered []
            Saved within 1.5s => within TIME ["Saved"] 1.5 s; "each" within 2 m => within TIME ["each"] 120 s
            Saved at most 3 waiting => at most COUNT waiting ["Saved"] 3
            before before on => before OTHER [on PLACE] ["before", "on"]
            A before B on main => before OTHER [on PLACE] ["A", "B"] 1
            each A before B => NAME before OTHER [on PLACE] ["A", "B"]
            no handler longer than 16 ms => handler [on PLACE] longer than TIME [] 16 ms
            no handler on thread cook longer than 250 µs => handler [on PLACE] longer than TIME [] cook 250 µs
            no observer left at exit => observer left at exit []
            no finding => finding []; no problem => problem []; no wrongThread => KIND [] wrongThread
            no severalThreads => KIND [] wrongThread
            """#
        for line in table.split(separator: "\n").flatMap({ $0.split(separator: "; ") }) {
            let texts = line.components(separatedBy: " => ")
            let rule = try XCTUnwrap(try Rule.rules(texts[0], source: "").first, texts[0])
            let parts = [
                rule.form.pattern.split(separator: " ").dropFirst().joined(separator: " "), "\(rule.names)",
                rule.place, rule.time.nanoseconds == 0 ? nil : "\(rule.time)",
                rule.count == 0 ? nil : "\(rule.count)", rule.kind,
            ]
            XCTAssertEqual(parts.compactMap(\.self).joined(separator: " "), texts.last)
        }
    }

    func testALineThatIsNoRuleIsAnErrorWithItsPlaceAndTheForms() throws {
        let rules = try Rule.rules("# rules\n\nSaved on main # always\r\n  no finding\n", source: "rules.txt")
        XCTAssertEqual(rules.map { "\($0.text) \($0.origin?.line ?? 0)" }, ["Saved on main 3", "no finding 4"])
        XCTAssertNil(try Rule.rules("no finding", source: "-")[0].origin)
        for (line, problem) in [
            ("Saved onn main", "\"Saved onn main\" is not a rule. Did you mean the form NAME on PLACE? "),
            ("Savd", "\"Savd\" is not a rule. The rules are: NAME on PLACE; NAME not on PLACE; "),
            (
                "no handler longer then 16 ms",
                "\"no handler longer then 16 ms\" is not a rule. Did you mean the form no handler [on PLACE] longer than "
            ),
            ("Saved on mian", "\"Saved on mian\" is not"),
            ("Build finished on main", "\"Build finished on main\" is not"),
            ("Saved on main thread", "\"Saved on main thread\" is not"), ("No finding", "\"No finding\" is not"),
            ("every Saved observed", "\"every Saved observed\" is not"), ("\"A on main", "\"\"A on main\" is not"),
            ("\"A\"on main", "\"\"A\"on main\" is not"),
            ("Saved at most -1 waiting", "\"Saved at most -1 waiting\" is not"),
            ("no handler longer than 5 x", "\"5 x\" is not a time such as 16 ms."),
            ("Saved before Saved", "a notification cannot come before itself."),
            ("no wrongthread", "\"wrongthread\" is not a kind of finding. Did you mean wrongThread?"),
        ] {
            XCTAssertThrowsError(try Rule.rules("\n\(line)\nno", source: "rules.txt"), line) { error in
                XCTAssertTrue("\(error)".hasPrefix("rules.txt:2: \(problem)"), "\(error)")
            }
        }
        XCTAssertThrowsError(try Rule.rules("", source: "--rule", isFile: false)) {
            XCTAssertEqual("\($0)", "--rule: has no rule. Write one on each line: Saved on main")
        }
    }
}
