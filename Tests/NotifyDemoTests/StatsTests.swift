import DeliveryDiagnostics
import Foundation
import Subprocess
import Testing

/// Runs `notify-demo stats` as a user does.
@Suite("notify-demo stats")
struct StatsTests {
    private static let recording = """
        f=$(mktemp); trap 'rm -f $f' EXIT
        notify-demo run many-observers --json > $f 2>/dev/null;
        """

    @Test("tables are printed on standard output in 80 columns, without messages")
    func tables() async throws {
        for option in ["", "--by name", "--by observer", "--by thread"] {
            let outcome = try await Shell.run("\(Self.recording) notify-demo stats \(option) $f")
            #expect(outcome.status == .exited(0))
            #expect(outcome.errors == "")
            #expect(outcome.output.contains("post to delivery "))
            #expect(outcome.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
        }
    }

    @Test("--json is one object with times in nanoseconds")
    func json() async throws {
        let outcome = try await Shell.run("\(Self.recording) notify-demo stats --json $f")
        #expect(outcome.status == .exited(0))
        let json = try #require(
            try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
        let total = try #require(json["total"] as? [String: Any])
        let times = try #require(total["postToDelivery"] as? [String: Any])
        let percentiles = try ["p50", "p90", "p99", "p999", "max"].map { try #require(times[$0] as? Int) }
        #expect(percentiles == percentiles.sorted())
        #expect(times["count"] as? Int == 1200)
        #expect((json["observers"] as? [[String: Any]])?.count == 12)
    }

    @Test(
        "an unreadable recording is an error, and a usage error is 64",
        arguments: [
            ("stats /nonexistent", "/nonexistent: ", 2), ("stats", "recording", 64),
            ("stats --by sender $f", "sender", 64), ("stats --json --by name $f", "--json", 64),
            ("stats $f > /dev/full", "cannot write to standard output: No space left", 2),
        ])
    func failure(arguments: String, message: String, status: Int32) async throws {
        let outcome = try await Shell.run("\(Self.recording) notify-demo \(arguments)")
        #expect(outcome.status == .exited(status), "\(outcome.errors)")
        #expect(outcome.output == "")
        #expect(outcome.errors.contains(message), "\(outcome.errors)")
    }

    @Test("a closed pipe ends it quietly")
    func closedPipe() async throws {
        let outcome = try await Shell.run(
            """
            \(Self.recording) fifo=$(mktemp -u); mkfifo $fifo
            { notify-demo stats --json $f > $fifo; } 2>&1 & exec 3<$fifo; exec 3<&-; rm $fifo; wait $!; echo "status $?"
            """)
        #expect(["status 141\n", "status 0\n"].contains(outcome.output), "\(outcome.output)")
    }

    @Test("help has examples and the exit status")
    func help() async throws {
        let outcome = try await Shell.run("notify-demo stats --help")
        #expect(outcome.status == .exited(0))
        for words in ["EXAMPLES", "EXIT STATUS", "--by"] { #expect(outcome.output.contains(words)) }
    }
}
