import DeliveryDiagnostics
import Foundation
import Scenarios
import Subprocess
import Testing

@testable import notify_demo

/// The words that bash offers with the generated completions.
@Suite("Completions")
struct CompletionTests {
    /// The words that complete the line. Its last word may be empty.
    private func offered(_ line: String) async throws -> Set<String> {
        let words = line.split(separator: " ", omittingEmptySubsequences: false).map { "'\($0)'" }
        let outcome = try await Shell.run(
            """
            cd "$(mktemp -d)"; touch run.log run.xml "with blank.log"; trap 'rm -r "$PWD"' EXIT
            . <(notify-demo --generate-completion-script bash)
            COMP_LINE='\(line)'; COMP_POINT=${#COMP_LINE}; COMP_WORDS=(\(words.joined(separator: " ")))
            COMP_CWORD=\(words.count - 1)
            _notify-demo notify-demo "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
            printf '%s\\n' "${COMPREPLY[@]}"
            """)
        #expect(outcome.errors == "")
        return Set(outcome.output.split(separator: "\n").map(String.init))
    }

    @Test("visible subcommands are offered, and hidden ones are not")
    func subcommands() async throws {
        let offered = try await offered("notify-demo ")
        let subcommands = try #require(CommandDescription(of: NotifyDemo.self).subcommands)
        #expect(subcommands.contains { !$0.shouldDisplay })
        for subcommand in subcommands {
            #expect(offered.contains(subcommand.name) == subcommand.shouldDisplay, "\(subcommand.name)")
        }
    }

    @Test("scenarios, choices and files are offered for the arguments that accept them")
    func values() async throws {
        #expect(try await offered("notify-demo run ") == Set(ScenarioCatalog.all.map(\.name)))
        #expect(try await offered("notify-demo run po") == ["posting-thread", "posting-styles"])
        #expect(try await offered("notify-demo run flood --style ") == ["document", "stages"])
        #expect(try await offered("notify-demo run --st") == ["--style", "--stable"])
        #expect(try await offered("notify-demo compare run.log ") == ["run.log", "run.xml", "with blank.log"])
        #expect(try await offered("notify-demo smoke --junit ") == ["run.xml"])
        #expect(try await offered("notify-demo observe --behavior d") == ["drop", "deliver-immediately"])
    }

    @Test("arguments that are called a file are completed as files")
    func files() async throws {
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
        let tree = try await Shell.run("notify-demo --experimental-dump-help").output
        try describe(JSONSerialization.jsonObject(with: Data(tree.utf8)), in: "")
        #expect(described["compare runs"] == true)
        #expect(described["smoke file"] == true)
        for (argument, isCompleted) in described { #expect(isCompleted, "\(argument)") }
    }
}
