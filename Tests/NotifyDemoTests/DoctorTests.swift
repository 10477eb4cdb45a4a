import Foundation
import Subprocess
import Testing

/// Compares this platform's Foundation with this package.
@Suite("notify-demo doctor")
struct DoctorTests {
    private struct Fact: Decodable {
        struct Answer: Decodable {
            var kept: Bool
            var observed: String
        }
        struct Question: Decodable {
            var name: String
            var foundation: Answer
            var ours: Answer?
            var noCounterpart: String?
        }
        var fact: String
        var questions: [Question]
    }

    /// Runs once for all tests.
    private static let examined = Task { try await Shell.run("notify-demo doctor --json") }

    private static func facts(in output: String) throws -> [Fact] {
        try output.split(separator: "\n").map { try JSONDecoder().decode(Fact.self, from: Data($0.utf8)) }
    }

    private static func question(_ name: String) async throws -> Fact.Question {
        let questions = try facts(in: await examined.value.output).flatMap(\.questions)
        return try #require(questions.first { $0.name == name })
    }

    @Test("each fact has a line, in order")
    func lines() async throws {
        let facts = try Self.facts(in: await Self.examined.value.output)
        #expect(facts.map(\.fact) == (1...23).map { "F\($0)" })
        for fact in facts { #expect(!fact.questions.isEmpty, "\(fact.fact)") }
    }

    @Test("this package behaves as expected, and the status is 0")
    func ours() async throws {
        for question in try Self.facts(in: await Self.examined.value.output).flatMap(\.questions) {
            let ours = try #require(question.ours, "\(question.name): \(question.noCounterpart ?? "")")
            #expect(ours.kept, "\(question.name): \(ours.observed)")
        }
        let outcome = try await Self.examined.value
        #expect(outcome.status == .exited(0))
        #expect(outcome.errors == "")
    }

    // Foundation's behaviour is not checked: another release may behave as expected.
    @Test("Foundation's behaviour is reported for each question")
    func foundation() async throws {
        for question in try Self.facts(in: await Self.examined.value.output).flatMap(\.questions) {
            #expect(!question.foundation.observed.isEmpty, "\(question.name)")
        }
    }

    @Test(
        "the reader of the wire refuses such lists, with the byte", arguments: ["list-with-a-set", "list-that-expands"])
    func refusals(question: String) async throws {
        let list = try #require(try await Self.question(question).ours)
        #expect(list.observed.hasPrefix("PropertyListReader: refused (byte "), "\(list.observed)")
    }

    @Test("the server that the examination starts ends, and its directory is removed")
    func serverEnds() async throws {
        let outcome = try await Shell.run(
            #"""
            export TMPDIR=$(mktemp -d); notify-demo doctor --fact F20 | grep -c "ok  DistributedCenter"; ls "$TMPDIR"
            servers() { for c in /proc/[0-9]*/cmdline; do [[ $(<$c) == *"$TMPDIR"* ]] && echo $c; done 2>/dev/null; }
            for i in {1..1200}; do [ -z "$(servers)" ] && break; sleep 0.05; done; servers
            rmdir "$TMPDIR"
            """#)
        #expect(outcome.output == "1\n", "\(outcome.errors)")
    }

    @Test("only the requested facts are examined")
    func some() async throws {
        let outcome = try await Shell.run("notify-demo doctor --json --fact f2 --fact F1")
        #expect(try Self.facts(in: outcome.output).map(\.fact) == ["F1", "F2"])
        #expect(outcome.status == .exited(0))
    }

    @Test("a timeout of this package is a failure with a message; Foundation's is only a row")
    func failure() async throws {
        let outcome = try await Shell.run("notify-demo doctor --fact F5 --limit 0.0001")
        #expect(outcome.status == .exited(1))
        #expect(outcome.output.contains("Foundation             NO  hangs"))
        #expect(outcome.output.contains("ThreadedNotifications  NO  hangs"))
        #expect(
            outcome.errors.hasPrefix("FAILED  asap: first in, first out: hangs instead of first, second, third\n"),
            "\(outcome.errors)")
    }

    @Test("the lines are as wide as the terminal", arguments: [(80, false), (200, true)])
    func width(columns: Int, isTable: Bool) async throws {
        let outcome = try await Shell.run(
            "TERM=xterm script -qec 'stty cols \(columns); notify-demo doctor --fact F2 --fact F7' /dev/null")
        #expect(outcome.output.contains("fact  area") == isTable)
        #expect(outcome.output.contains("\u{1B}[32mok\u{1B}[0m  the other observer is called"))
        let plain = outcome.output.replacing(/\u{1B}\[[0-9;]*[mK]/, with: "")
        for line in plain.split(whereSeparator: \.isNewline) { #expect(line.count <= columns, "\(line)") }
    }
}
