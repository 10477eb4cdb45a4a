import ArgumentParser
import XCTest

@testable import notify_demo

/// Parses command lines in this process.
final class UsageTests: XCTestCase {
    /// The exit status and message of a command line that is refused; nil if it is accepted.
    private func refusal(_ arguments: [String]) -> (status: Int32, message: String)? {
        do {
            _ = try NotifyDemo.command(of: arguments)
            return nil
        } catch {
            return (NotifyDemo.exitCode(for: error).rawValue, NotifyDemo.fullMessage(for: error))
        }
    }

    func testAUsageErrorIs64WithTheReasonAndASuggestion() {
        let long = String(repeating: "é", count: 128)
        let cases = [
            ("run redirct", "Did you mean \"redirect\"?"), ("run xyzzy", "'notify-demo list' lists all"),
            ("rnu redirect", "Did you mean 'run'?"), ("smoke redirct", "Did you mean \"redirect\"?"),
            ("--nonsense", "--nonsense"), ("run", "Missing expected argument"),
            ("run flood --posters 0", "--posters is 0; it must be from 1 to 256"),
            ("run flood --drop-signals nan", "must be from 0.0 to 1.0"),
            ("run observer-lifetime --capture strong", "--capture"),
            ("record", "name a program after --"), ("record -o x true", "name a program after --"),
            ("record --repeat 0 -- true", "--repeat is 0"),
            ("record --repeat 2 -o - -- true", "--repeat and --check need files"),
            ("record --repeat 2 --check rules.txt -- true", "--repeat checks no rules"),
            ("record -o - --check rules.txt -- true", "--repeat and --check need files"),
            ("record --check - -- true", "standard input belongs to the program"),
            ("compare a.log", "expected two runs"), ("compare - -", "can be read only once"),
            ("compare --reference listing-1 a b", "got 2"), ("compare --good a", "at least one file after each"),
            ("compare --good - --bad -", "can be read only once"),
            ("diagnose --depth 0", "--depth is 0"), ("diagnose --main-budget 16", "16ms"),
            ("check", "name a rule, for example --rule 'Saved on main'"),
            ("check --rule Savd", "--rule: \"Savd\" is not a rule. The rules are: NAME on PLACE; "),
            ("check --rules a --json --sarif -", "--json and --sarif both write to"),
            ("check - --rules -", "standard input can be read only once"), ("stats --by sender", "sender"),
            ("timeline --from 5", "10ms, 1.5s, 200us"), ("post \(long)", "has 256 bytes. A name is 1 to 255 bytes"),
            ("post x --user-info k=1", "takes an object of JSON"),
            ("post x --user-info [1]", "takes an object of JSON"),
            (#"post x --user-info {"a":[null]}"#, "without null"), ("observe -N 0", "-N is 0"),
            ("observe --timeout 5", "200ms, 5s, 2m"),
        ]
        for (line, message) in cases {
            let refusal = refusal(line.split(separator: " ").map(String.init))
            XCTAssertEqual(refusal?.status, 64, line)
            XCTAssertEqual(refusal?.message.contains(message), true, "\(line): \(refusal?.message ?? "")")
        }
    }

    func testEachSubcommandIsInAGroupOfTheHelpWhichFits60ColumnsAndShowsTheDefaultsOfLimits() {
        let root = NotifyDemo.helpMessage(columns: 60)
        for subcommand in NotifyDemo.configuration.groupedSubcommands.flatMap(\.subcommands) {
            let help = NotifyDemo.helpMessage(for: subcommand, columns: 60)
            // swift-argument-parser does not wrap the line of the usage.
            for line in help.split(separator: "\n") where !line.hasPrefix("USAGE: ") {
                XCTAssertTrue(line.count <= 60 || line.hasPrefix("  "), "\(subcommand._commandName): \(line)")
            }
            XCTAssertTrue(root.contains("\n  \(subcommand._commandName) "), root)
        }
        XCTAssertFalse(root.contains("-child"))
        let help = NotifyDemo.helpMessage(for: Diagnose.self, columns: 200)
        for limit in ["16ms", "1000", "1s", "100"] { XCTAssertTrue(help.contains("(default: \(limit))"), help) }
    }
}
