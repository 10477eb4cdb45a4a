import ArgumentParser
import ChildProcesses
import Scenarios
import SharedTesting
import XCTest

@testable import notify_demo

/// The words that bash offers with the generated completions.
final class CompletionTests: XCTestCase {
    func testVisibleSubcommandsScenariosChoicesAndFilesAreOfferedForTheArgumentsThatAcceptThem() throws {
        let subcommands = NotifyDemo.configuration.groupedSubcommands.flatMap(\.subcommands).map { $0._commandName }
        let cases: [(line: String, offered: Set<String>)] = [
            ("notify-demo run ", Set(ScenarioCatalog.all.map(\.name))),
            ("notify-demo run po", ["posting-thread", "posting-styles"]), ("notify-demo run --js", ["--json"]),
            ("notify-demo compare run.log ", ["run.log", "run.xml", "with blank.log", "with $(touch made).log"]),
            ("notify-demo smoke --junit ", ["run.xml"]), ("notify-demo check --rules run.l", ["run.log"]),
            ("notify-demo stats --by o", ["observer"]), ("notify-demo record -- run.x", ["run.xml"]),
            ("notify-demo ", Set(subcommands + ["help"])),
        ]
        // The last word may be empty.
        let lines = cases.map { line, _ in
            let words = line.split(separator: " ", omittingEmptySubsequences: false).map { "'\($0)'" }
            return """
                COMP_LINE='\(line)'; COMP_POINT=${#COMP_LINE}; COMP_WORDS=(\(words.joined(separator: " ")))
                COMP_CWORD=\(words.count - 1); COMPREPLY=()
                _notify-demo notify-demo "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
                printf '%s\\n' "${COMPREPLY[@]}" ===
                """
        }
        let outcome = try Shell.inDirectory(
            """
            touch run.log run.xml "with blank.log" 'with $(touch made).log'
            . <(notify-demo --generate-completion-script bash)
            \(lines.joined(separator: "\n"))
            [ ! -e made ]
            """)
        XCTAssertEqual(outcome.end, .exit(0))
        XCTAssertEqual(outcome.errors, "")
        let offered = outcome.output.components(separatedBy: "===\n").map {
            Set($0.split(separator: "\n").map(String.init))
        }
        for ((line, expected), offered) in zip(cases, offered) {
            XCTAssertEqual(offered.filter { !$0.hasPrefix("-") || line.hasSuffix("--js") }, expected, "\(line)")
        }
    }
}
