import Foundation
import Subprocess
import Testing

/// Runs `notify-demo timeline` as a user does.
@Suite("notify-demo timeline")
struct TimelineCommandTests {
    /// Runs shell lines in which `$RUN` is the recording of a scenario, in a directory of its own.
    private func shell(_ line: String, of scenario: String = "redirect") async throws -> Shell.Outcome {
        try await Shell.run(
            """
            set -e; cd "$(mktemp -d)"; trap 'rm -r "$PWD"' EXIT; RUN=run.jsonl
            notify-demo run \(scenario) --json > $RUN 2> /dev/null
            set +e; \(line)
            """)
    }

    @Test("without a terminal it has 80 columns and no colours")
    func text() async throws {
        let outcome = try await shell("notify-demo timeline $RUN", of: "flood")
        #expect(outcome.status == .exited(0), "\(outcome.errors)")
        #expect(outcome.output.hasPrefix("\(outcome.output.prefix { $0.isNumber }) rows of 400"))
        #expect(outcome.output.contains("  deliver "))
        #expect(outcome.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
        #expect(!outcome.output.contains("\u{1B}"))
    }

    @Test("a terminal gets its own columns and a colour for each lane, and no colours with NO_COLOR")
    func terminal() async throws {
        let drawn = try await shell(
            "TERM=xterm script -qec 'stty cols 101; notify-demo timeline run.jsonl --limit 0' /dev/null",
            of: "many-observers")
        #expect(drawn.output.contains("\u{1B}[36m"))
        let lines = drawn.output.split { $0.isNewline }.map { $0.replacing(/\u{1B}\[\d+m/, with: "") }
        #expect((81...101).contains(lines.map(\.count).max() ?? 0))
        let plain = try await shell(
            "TERM=xterm NO_COLOR=1 script -qec 'notify-demo timeline run.jsonl' /dev/null", of: "redirect")
        #expect(plain.output.contains("main"))
        #expect(!plain.output.contains("\u{1B}["))
    }

    @Test("a picture goes to standard output, or into a file")
    func picture() async throws {
        let outcome = try await shell(
            "notify-demo timeline $RUN --svg -o a.svg && notify-demo timeline $RUN --svg | cmp - a.svg && cat a.svg")
        #expect(outcome.status == .exited(0), "\(outcome.errors)")
        #expect(outcome.output.hasPrefix("<svg xmlns="))
        #expect(outcome.output.hasSuffix("</svg>\n"))
        let named = try await shell(
            "notify-demo timeline $RUN --svg > a; notify-demo timeline $RUN -o b.SVG && cmp a b.SVG")
        #expect(named.status == .exited(0), "\(named.output)\(named.errors)")
        let text = try await shell("notify-demo timeline $RUN -o a && notify-demo timeline $RUN | cmp - a")
        #expect(text.status == .exited(0), "\(text.output)\(text.errors)")
    }

    @Test(
        "a drawing that is not possible is 2, with the reason",
        arguments: [
            ("--name TestNotificaton", "has no notification \"TestNotificaton\". Did you mean \"TestNotification\"?"),
            ("--post 77", "has no post #77."), ("--svg -o /nowhere/a.svg", "cannot write /nowhere/a.svg: "),
        ])
    func failure(arguments: String, message: String) async throws {
        let outcome = try await shell("notify-demo timeline $RUN \(arguments)")
        #expect(outcome.status == .exited(2))
        #expect(outcome.output == "")
        #expect(outcome.errors.contains(message), "\(outcome.errors)")
    }

    @Test(
        "a usage error is 64",
        arguments: [
            ("--width 39", "must be from 40 to 1000"), ("--limit=-1", "must be 0 (all) or more"),
            ("--from 5", "--from <time>"), ("--from 2ms --to 1ms", "--from 2 ms is later than --to 1 ms"),
            ("--svg --ascii", "--svg"), ("--svg --width 80", "--svg"), ("-o y.svg --ascii", "-o y.svg draws a picture"),
        ])
    func usage(arguments: String, message: String) async throws {
        let outcome = try await Shell.run("notify-demo timeline run.jsonl \(arguments)")
        #expect(outcome.status == .exited(64))
        #expect(outcome.errors.contains(message), "\(outcome.errors)")
    }

    @Test(
        "every scenario's recording is drawn, as text and as a picture",
        arguments: ["posting-thread", "held-message", "observer-lifetime", "thread-exit", "overflow", "run-loop-modes"])
    func scenarios(scenario: String) async throws {
        let outcome = try await shell(
            "notify-demo timeline $RUN --ascii && notify-demo timeline $RUN --svg", of: scenario)
        #expect(outcome.status == .exited(0), "\(outcome.errors)")
        #expect(outcome.output.contains("  main"))
        #expect(outcome.output.hasSuffix("</svg>\n"))
    }
}
