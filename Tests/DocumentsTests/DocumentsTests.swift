import DeliveryDiagnostics
import Foundation
import Scenarios
import Testing

/// Compares the output of `notify-demo` that the README shows with its actual output.
@Suite("README")
struct ReadmeTests {
    /// The commands and outputs of the README's console blocks.
    private static func sessions() throws -> [(command: String, output: String)] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let readme = try String(contentsOf: root.appending(component: "README.md"), encoding: .utf8)
        return readme.components(separatedBy: "```console\n").dropFirst().flatMap { block in
            (block.components(separatedBy: "```\n").first ?? "").components(separatedBy: "$ ").dropFirst().map {
                session in
                let lines = session.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
                return (String(lines[0]), lines.count > 1 ? String(lines[1]) : "")
            }
        }
    }

    @Test("each scenario is shown")
    func scenarios() throws {
        let commands = try Self.sessions().map(\.command)
        for scenario in ScenarioCatalog.all {
            #expect(commands.contains { $0.hasPrefix("notify-demo run \(scenario.name)") }, "\(scenario.name)")
        }
    }

    @Test("each command prints what the README shows, apart from times, ids, counts and Foundation's behaviour")
    func outputs() async throws {
        let sessions = try Self.sessions()
        #expect(sessions.count >= 10)
        for (command, shown) in sessions {
            let printed = try await Self.run(command)
            #expect(Self.shape(of: printed) == Self.shape(of: shown), "\(command)")
        }
    }

    /// The runtime directory in the README.
    private static let runtimeDirectory = "/run/user/1000"

    /// Runs a command in a runtime directory of its own, and ends the server that it has started.
    private static func run(_ command: String) async throws -> String {
        let outcome = try await Shell.run(
            #"""
            export XDG_RUNTIME_DIR=$(mktemp -d); echo "$XDG_RUNTIME_DIR"
            \#(command)
            if [ -e "$XDG_RUNTIME_DIR/distributed-notifications" ]; then
                kill $(notify-demo status --json | grep -o '"processID":[0-9]*,"seconds"' | grep -o '[0-9]*')
            fi
            rm -r "$XDG_RUNTIME_DIR"
            """#)
        let directory = outcome.output.prefix { $0 != "\n" }
        return String(outcome.output.dropFirst(directory.count + 1)).replacing(directory, with: runtimeDirectory)
    }

    /// Splits a text into lines, with every number as 0 and every run of blanks as one. It also removes the uptime of a
    /// server, because its unit may differ; the name of a posting process, because the process may have ended; and
    /// Foundation's behaviour, because it depends on the release.
    private static func shape(of text: String) -> [String] {
        text.replacing(/running for [0-9.]+ [a-zµ]+/, with: "running").replacing(
            /notify-demo(?=\[[0-9]+\] →)/, with: ""
        )
        .replacing(/(?m)^( +Foundation +)(?:ok|NO) .*$/, with: { "\($0.output.1)" })
        .replacing(/0x[0-9a-f]+|[0-9]+/, with: "0").replacing(/\ +/, with: " ").split(separator: "\n")
        .map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
