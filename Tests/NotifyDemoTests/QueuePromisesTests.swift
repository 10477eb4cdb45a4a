import Foundation
import Subprocess
import Testing

/// Tries the promises of notification queues with Foundation's queue and this package's.
@Suite("Promises of notification queues")
struct QueuePromisesTests {
    private struct Row {
        var claim: String
        var fact: String?
        var foundation: String
        var postingQueue: String
    }

    /// Runs once for all tests.
    private static let printed = Task { try await Shell.run("notify-demo doctor --queues --markdown") }

    private static func rows() async throws -> [Row] {
        let outcome = try await printed.value
        return try rows(in: outcome.output.split(separator: "\n"))
    }

    /// The rows of a table in Markdown, without its heading.
    private static func rows(in lines: [Substring]) throws -> [Row] {
        try lines.dropFirst(2).map { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            try #require(cells.count == 4, "\(line)")
            return Row(
                claim: cells[0], fact: cells[1].isEmpty ? nil : cells[1], foundation: cells[2], postingQueue: cells[3])
        }
    }

    @Test("this package's queue keeps every promise")
    func ours() async throws {
        let rows = try await Self.rows()
        #expect(rows.count > 40)
        for row in rows where row.postingQueue != "kept" {
            Issue.record("\(row.claim): \(row.postingQueue)")
        }
        #expect(try await Self.printed.value.status == .exited(0))
    }

    // Foundation's verdicts are not checked: another release may keep more promises.
    @Test("the behaviour of Foundation's queue is reported for each promise")
    func foundation() async throws {
        for row in try await Self.rows() { #expect(!row.foundation.isEmpty, "\(row.claim)") }
    }

    @Test("the article's table has each promise and this package's verdict")
    func readme() async throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let article = try String(
            contentsOf: root.appending(
                path: "Sources/ThreadedNotifications/ThreadedNotifications.docc/MovingFromFoundation.md"),
            encoding: .utf8)
        let section = try #require(
            article.components(separatedBy: "## Foundation's queue on Linux\n").dropFirst().first)
        let shown = try Self.rows(
            in: section.split(separator: "\n").drop { !$0.hasPrefix("|") }.prefix { $0.hasPrefix("|") }.map { $0 })
        let printed = try await Self.rows()
        // If this fails, copy the output of notify-demo doctor --queues --markdown. Foundation's column depends on the
        // release that the article names.
        #expect(shown.map(\.claim) == printed.map(\.claim))
        #expect(shown.map(\.fact) == printed.map(\.fact))
        #expect(shown.map(\.postingQueue) == printed.map(\.postingQueue))
    }
}
