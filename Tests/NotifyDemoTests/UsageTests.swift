import ArgumentParser
import Scenarios
import XCTest

@testable import notify_demo

/// Parses command lines in this process.
final class UsageTests: XCTestCase {
    /// The exit status and message of a command line that is refused; nil if it is accepted.
    private func refusal(_ arguments: [String]) -> (status: Int32, message: String)? {
        do {
            if let error = NotifyDemo.unknownWord(in: arguments) { throw error }
            _ = try NotifyDemo.parseAsRoot(arguments)
            return nil
        } catch {
            return (NotifyDemo.exitCode(for: error).rawValue, NotifyDemo.fullMessage(for: error))
        }
    }

    func testAUsageErrorIs64WithTheReasonAndASuggestion() {
        let long = String(repeating: "é", count: 128)
        let cases = [
            ("run redirct", "Did you mean \"redirect\"?"), ("run xyzzy", "'notify-demo list' lists all"),
            ("rnu redirect", "there is no subcommand \"rnu\". Did you mean \"run\"?"),
            ("redirect", "Did you mean \"run redirect\"?"), ("help diagnos", "Did you mean \"diagnose\"?"),
            ("status", "Did you mean \"serve --status\"?"), ("smoke redirct", "Did you mean \"redirect\"?"),
            ("--nonsense", "--nonsense"), ("run", "Missing expected argument"),
            ("run redirect --posters 3", "takes no --posters"),
            ("run flood --posters 0", "--posters is 0; it must be from 1 to 256"),
            ("run many-observers --notifications 50001", "must be from 1 to 50000"),
            ("run flood --drop-signals nan", "must be from 0 to 1"),
            ("run observer-lifetime --capture strong", "--capture"),
            ("record", "name a program after --"), ("record -o x --fast", "--fast"),
            ("record -o x true", "the program must follow --: notify-demo record -o x -- true"),
            ("record --until-fail -- true", "--until-fail needs --repeat"),
            ("record --repeat 0 -- true", "--repeat is 0"),
            ("record --repeat 2 -o - -- true", "--repeat makes several files"),
            ("record --repeat 2 --check rules.txt -- true", "--repeat checks no rules"),
            ("record -o - --check rules.txt -- true", "-o must name a file"),
            ("record --check - -- true", "standard input belongs to the program"),
            ("record --check rules.txt -o a --junit a -- true", "-o and --junit name the same file"),
            ("compare a.log", "expected two runs, got 1"), ("compare - -", "can be read only once"),
            ("compare --reference listing-1 a b", "expected one run with --reference, got 2"),
            ("compare --good a", "at least one file after --bad"),
            ("compare --good - --bad -", "can be read only once"),
            ("compare --unit ( /nonexistent b", "--unit: \"(\" is not a regular expression"),
            ("compare --pool ( a b", "--pool: \"(\" is not"),
            ("compare --from-line ( a b", "--from-line: \"(\" is not"),
            ("compare --good a --bad b --mask (", "--mask: \"(\" is not"),
            ("compare --form lines a b", "--form must be one of"),
            ("diagnose --kinds --strict --post 1 a.jsonl", "Leave out --strict and --post and a.jsonl."),
            ("diagnose --kinds --accept a", "--kinds reads no recording. Leave out --accept."),
            ("diagnose --depth 0", "--depth is 0; it must be 1 or more"), ("diagnose --main-budget 16", "16ms"),
            ("check", "name a rule, for example --rule 'Saved on main'"),
            ("check --rule Savd", "\"Savd\":5: expected \"on\""),
            ("check --rule Savd --rules -", "expected \"on\""),
            ("check --rules a --json --sarif -", "--json and --sarif both write to"),
            ("check - --rules -", "standard input can be read only once"),
            ("check --rules - --rules -", "standard input can be read only once"),
            ("check --rules r --junit a --sarif ./a", "--junit and --sarif name the same file"),
            ("stats --by sender", "sender"), ("stats --json --by name", "--json"),
            ("timeline --width 39", "must be from 40 to 1000"), ("timeline --limit=-1", "must be 0 (all)"),
            ("timeline --linear", "--linear needs a picture"), ("timeline --from 5", "--from"),
            ("timeline -o y.svg --width 80", "-o y.svg draws a picture"),
            ("timeline --svg --color always", "does not allow --width or --color"),
            ("show --from 2ms --to 1ms", "--from 2 ms is later than --to 1 ms"),
            ("post \(long)", "has 256 bytes. A name is 1 to 255 bytes"),
            ("post --user-info k=v x", "Missing expected argument '<name>'"),
            ("post x --user-info k=1 --user-info k:=2", "contains the key \"k\" twice"),
            ("observe -N 0", "1 or more"), ("observe --timeout 5", "200ms, 5s, 2m"),
            ("serve --json", "needs --status"),
        ]
        for (line, message) in cases {
            let refusal = refusal(line.split(separator: " ").map(String.init))
            XCTAssertEqual(refusal?.status, 64, line)
            XCTAssertEqual(refusal?.message.contains(message), true, "\(line): \(refusal?.message ?? "")")
        }
    }

    func testACommandLineThatIsAcceptedNeedsNoFile() {
        for line in [
            "", "diagnose --strict --accept accepted.txt", "diagnose --kinds --json --depth 9", "stats -",
            "record -- true",
            "observer-lifetime-child weak a", "check --rules rules.txt --sarif -", "record --check rules.txt -- true",
        ] {
            XCTAssertNil(refusal(line.split(separator: " ").map(String.init))?.message, line)
        }
    }

    func testEachSubcommandIsInAGroupOfTheHelpWhichFits60ColumnsAndShowsTheDefaultsOfLimits() {
        let root = NotifyDemo.helpMessage(columns: 60)
        for subcommand in NotifyDemo.configuration.groupedSubcommands.flatMap(\.subcommands) {
            let help = NotifyDemo.helpMessage(for: subcommand, columns: 60)
            // swift-argument-parser does not wrap the line of the usage.
            let words = Set(
                NotifyDemo.helpMessage(for: subcommand, columns: 1000).split(whereSeparator: \.isWhitespace))
            for line in help.split(separator: "\n") where !line.hasPrefix("USAGE: ") {
                XCTAssertEqual(line.split(separator: " ").filter { !words.contains($0) }, [], "\(line)")
                XCTAssertTrue(line.count <= 60 || line.hasPrefix("  "), "\(subcommand._commandName): \(line)")
            }
            XCTAssertTrue(root.contains("\n  \(subcommand._commandName) "), root)
        }
        XCTAssertFalse(root.contains("-child"))
        let help = NotifyDemo.helpMessage(for: Diagnose.self, columns: 200)
        for limit in ["16ms", "1000", "1s", "100"] { XCTAssertTrue(help.contains("(default: \(limit))"), help) }
    }
}
