import DeliveryDiagnostics
import Foundation
import Subprocess
import Testing

/// Runs `notify-demo trace` as a user does.
@Suite("notify-demo trace")
struct TraceTests {
    private static let recording = """
        f=$(mktemp); o=$(mktemp); trap 'rm -f $f $o' EXIT
        notify-demo run thread-exit --json > $f 2>/dev/null;
        """

    private func events(_ text: String) throws -> [[String: Any]] {
        let trace = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        return try #require(trace["traceEvents"] as? [[String: Any]])
    }

    @Test("a trace is one JSON object on standard output, without messages")
    func output() async throws {
        let outcome = try await Shell.run("\(Self.recording) notify-demo trace $f")
        #expect(outcome.status == .exited(0))
        #expect(outcome.errors == "")
        let events = try events(outcome.output)
        #expect(events.count { $0["cat"] as? String == "deliver" && $0["ph"] as? String == "B" } > 3)
    }

    @Test("-o writes the same to a file, and names a program that opens it")
    func file() async throws {
        let outcome = try await Shell.run(
            "\(Self.recording) notify-demo trace $f -o $o && notify-demo trace $f | cmp - $o && wc -c < $o")
        #expect(outcome.status == .exited(0), "\(outcome.errors)")
        #expect(outcome.errors.contains("https://ui.perfetto.dev"))
        #expect((Int(outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0) > 1000)
    }

    @Test(
        "a file that cannot be read or written is an error that names it",
        arguments: [
            ("trace /nonexistent", "/nonexistent: ", 2),
            ("trace $f -o /nonexistent/o", "cannot write /nonexistent/o: ", 2),
            ("trace $f -o /dev/full", "cannot write /dev/full: No space left on device", 2),
            ("trace $f > /dev/full", "cannot write to standard output: No space left", 2), ("trace", "recording", 64),
            ("trace $f -o $f", "would overwrite the recording", 64),
        ])
    func failure(arguments: String, message: String, status: Int32) async throws {
        let outcome = try await Shell.run("\(Self.recording) notify-demo \(arguments)")
        #expect(outcome.status == .exited(status), "\(outcome.errors)")
        #expect(outcome.errors.contains(message), "\(outcome.errors)")
    }

    @Test("a closed pipe ends it quietly")
    func closedPipe() async throws {
        let outcome = try await Shell.run(
            """
            \(Self.recording) notify-demo run flood --notifications 5000 --json > $f 2>/dev/null
            set -o pipefail; { notify-demo trace $f | head -1 >/dev/null; } 2>&1; echo "status $?"
            """)
        #expect(outcome.output == "status 141\n")
    }

    @Test("help has examples and the exit status")
    func help() async throws {
        let outcome = try await Shell.run("notify-demo trace --help")
        #expect(outcome.status == .exited(0))
        for words in ["EXAMPLES", "EXIT STATUS", "https://ui.perfetto.dev"] {
            #expect(outcome.output.contains(words))
        }
    }
}
