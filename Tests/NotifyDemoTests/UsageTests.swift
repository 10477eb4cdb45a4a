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
        let long = (name: String(repeating: "é", count: 128), object: String(repeating: "o", count: 1025))
        let cases: [([String], String)] = [
            (["run", "redirct"], "Did you mean \"redirect\"?"), (["run", "xyzzy"], "'notify-demo list' lists all"),
            (["rnu", "redirect"], "there is no subcommand \"rnu\". Did you mean \"run\"?"),
            (["redirect"], "Did you mean \"run redirect\"?"), (["help", "diagnos"], "Did you mean \"diagnose\"?"),
            (["--nonsense"], "--nonsense"), (["run"], "Missing expected argument"),
            (["run", "redirect", "--posters", "3"], "takes no --posters; flood and many-observers do"),
            (["run", "flood", "--posters", "0"], "--posters is 0; it must be from 1 to 256"),
            (["run", "flood", "--notifications", "99999999"], "must be from 1 to 1000000"),
            (["run", "many-observers", "--notifications", "50001"], "must be from 1 to 50000"),
            (["run", "flood", "--drop-signals", "nan"], "must be from 0 to 1"),
            (["run", "flood", "--seed", "x"], "--seed"),
            (["run", "observer-lifetime", "--capture", "strong"], "--capture"),
            (["run", "redirect", "--json", "--style", "stages"], "--json prints complete records"),
            (["run", "redirect", "-o", "-", "--style", "stages"], "-o - prints complete records"),
            (["smoke", "redirct"], "Did you mean \"redirect\"?"),
            (["smoke", "--color", "blue"], "'auto', 'always' or 'never'"),
            (["record"], "name a program after --"),
            (["record", "-o", "x", "true"], "the program must follow --: notify-demo record -o x -- true"),
            (["record", "-o", "x", "--fast"], "record has no option \"--fast\""),
            (["record", "--until-fail", "--", "true"], "--until-fail needs --repeat"),
            (["record", "--repeat", "0", "--", "true"], "--repeat is 0"),
            (["record", "--repeat", "2", "-o", "-", "--", "true"], "--repeat makes several files"),
            (["record", "--repeat", "2", "--check", "rules.txt", "--", "true"], "--repeat checks no rules"),
            (["compare", "a.log"], "expected two runs, got 1"), (["compare", "-", "-"], "can be read only once"),
            (["compare", "--reference", "listing-1", "a", "b"], "expected one run with --reference, got 2"),
            (["compare", "--reference", "listing-3", "a"], "listing-3"),
            (["compare", "--good", "a"], "at least one file after --bad"),
            (["compare", "--good", "a", "--bad", "b", "--exact"], "--exact is for two runs"),
            (["compare", "--good", "-", "--bad", "-"], "can be read only once"),
            (["diagnose", "--depth", "-1"], "--depth is -1; it must be 1 or more"),
            (["check"], "name a rule, for example --rule 'Saved on main'"),
            (["check", "--rule", "Saved onn main"], "\"Saved onn main\":7: expected \"on\""),
            (["check", "--rule", "no finding", "--json", "--sarif", "-"], "--json and --sarif - both write to"),
            (["check", "-", "--rules", "-"], "standard input can be read only once"),
            (["check", "--rules", "-", "--rules", "-"], "standard input can be read only once"),
            (["check", "--rule", "no finding", "--junit", "a", "--sarif", "a"], "name the same file"),
            (["record", "-o", "-", "--check", "rules.txt", "--", "true"], "-o must name a file"),
            (["diagnose", "--main-budget", "16"], "a duration needs a unit: 16ms, or 16s"),
            (["diagnose", "--stall", "-1s"], "stall"), (["stats", "--by", "sender"], "sender"),
            (["stats", "--json", "--by", "name"], "--json"),
            (["timeline", "--width", "39"], "must be from 40 to 1000"),
            (["timeline", "--limit=-1"], "must be 0 (all)"),
            (["timeline", "--from", "5"], "--from"), (["timeline", "--svg", "--ascii"], "--svg"),
            (["timeline", "--linear"], "--linear needs a picture"),
            (["show", "--from", "2ms", "--to", "1ms"], "--from 2 ms is later than --to 1 ms"),
            (["timeline", "-o", "y.svg", "--width", "80"], "-o y.svg draws a picture"),
            (["post"], "Missing expected argument"), (["post", ""], "the name \"\" is empty"),
            (["post", long.name], "has 256 bytes. A name is 1 to 255 bytes"),
            (["post", "x", "--object", long.object], "has 1025 bytes. An object is up to 1024 bytes"),
            (["post", "--user-info", "k=v", "x"], "Missing expected argument '<name>'"),
            (["post", "x", "--user-info", "k=1", "--user-info", "k:=2"], "contains the key \"k\" twice"),
            (["observe", "--behavior", "deliverImmediately"], "'deliver-immediately'"),
            (["observe", "--resume-after", "1s"], "needs --suspend-after"), (["observe", "-N", "0"], "1 or more"),
            (["observe", "--timeout", "5"], "a duration needs a unit: 5ms, or 5s"),
            (["serve", "--idle-exit", "1 hour"], "a duration is a number and a unit, such as 200ms"),
            (["wait"], "Missing expected argument"),
            (["serve", "--idle-exit", "0s"], "--idle-exit is 0"),
            (["serve", "--status", "--idle-exit", "1s"], "--idle-exit has no effect"),
            (["serve", "--directory", ""], "--directory is empty"), (["serve", "--json"], "needs --status"),
            (["status"], "Did you mean \"serve --status\"?"),
        ]
        for (arguments, message) in cases {
            let refusal = refusal(arguments)
            XCTAssertEqual(refusal?.status, 64, "\(arguments)")
            XCTAssertEqual(refusal?.message.contains(message), true, "\(arguments): \(refusal?.message ?? "")")
        }
    }

    func testACommandLineThatIsAcceptedNeedsNoFile() {
        for arguments in [
            [], ["diagnose"], ["stats", "-"], ["show", "--name", "A", "--thread", "main"], ["record", "--", "true"],
            ["smoke", "redirect", "flood"], ["observer-lifetime-child", "weak"],
            ["diagnose", "--strict", "--accept", "accepted.txt"],
            ["check", "--rules", "rules.txt", "--rule", "no finding", "--sarif", "-"],
            ["record", "--check", "rules.txt", "--", "true"],
        ] {
            XCTAssertNil(refusal(arguments)?.message, "\(arguments)")
        }
        XCTAssertEqual(refusal(["--version"])?.status, 0)
    }

    func testEachSubcommandIsInAGroupOfTheHelpAndHasExamplesThatFit60Columns() {
        let root = NotifyDemo.helpMessage(columns: 60)
        for group in ["DEMONSTRATIONS", "RECORDINGS", "BETWEEN PROCESSES", "INSTALLATION"] {
            XCTAssertTrue(root.contains("\(group) SUBCOMMANDS:"), root)
        }
        for subcommand in NotifyDemo.configuration.groupedSubcommands.flatMap(\.subcommands) {
            let help = NotifyDemo.helpMessage(for: subcommand, columns: 60)
            // swift-argument-parser does not wrap the line of the usage.
            let wide = NotifyDemo.helpMessage(for: subcommand, columns: 1000)
            let words = Set(wide.split(whereSeparator: \.isWhitespace))
            for line in help.split(separator: "\n") where !line.hasPrefix("USAGE: ") {
                let broken = line.split(separator: " ").filter { !words.contains($0) }
                XCTAssertEqual(broken, [], "\(subcommand._commandName): \(line)")
                XCTAssertTrue(line.count <= 60 || line.hasPrefix("  "), "\(subcommand._commandName): \(line)")
            }
            XCTAssertTrue(root.contains("\n  \(subcommand._commandName) "), root)
            if subcommand != Tour.self { XCTAssertTrue(help.contains("EXAMPLES"), help) }
            if ![Tour.self, List.self].contains(where: { $0 == subcommand }) {
                XCTAssertTrue(help.contains("EXIT STATUS"), help)
            }
        }
        for child in NotifyDemo.configuration.ungroupedSubcommands {
            XCTAssertFalse(root.contains(child._commandName))
        }
    }

    func testTheHelpShowsTheDefaultsOfAllLimits() {
        let help = NotifyDemo.helpMessage(for: Diagnose.self, columns: 200)
        for words in ["(default: 16ms)", "(default: 1000)", "(default: 1s)", "(default: 100)"] {
            XCTAssertTrue(help.contains(words), help)
        }
    }

    func testTheArgumentsThatAreCalledAFileAreCompletedAsFiles() throws {
        var described: [String: Bool] = [:]
        func describe(_ part: Any, in command: String) {
            if let parts = part as? [Any] { for part in parts { describe(part, in: command) } }
            guard let part = part as? [String: Any] else { return }
            if let value = part["valueName"] as? String, part["shouldDisplay"] as? Bool == true,
                ["file", "log", "path", "recording", "runs"].contains(value)
            {
                described["\(command) \(value)"] = (part["completionKind"] as? [String: Any])?["file"] != nil
            }
            for inner in part.values { describe(inner, in: part["commandName"] as? String ?? command) }
        }
        try describe(JSONSerialization.jsonObject(with: Data(NotifyDemo._dumpHelp().utf8)), in: "")
        XCTAssertEqual(described["compare runs"], true)
        XCTAssertEqual(described["smoke file"], true)
        for (argument, isCompleted) in described { XCTAssertTrue(isCompleted, argument) }
    }
}
