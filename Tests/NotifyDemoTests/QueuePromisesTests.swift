import Foundation
import Subprocess
import Testing

/// Both notification queues, asked for what they promise.
@Suite("What notification queues promise")
struct QueuePromisesTests {
    private struct Row {
        var claim: String
        var fact: String?
        var foundation: String
        var postingQueue: String
    }

    /// What else Foundation's queue breaks.
    private static let found: Set = [
        "idle: after sources that are signalled",
        "idle: after blocks given to the run loop",
        "idle: after blocks on the main queue",
        "idle: the next one after what the first gave the run loop to do",
        "idle: not posted by a run loop that is about to return",
        "the document's typing: one count of bytes, when the typing stops",
        "first in, first out over two queues of a thread",
        "coalescing on sender: the latest of each object of a Swift class",
        "coalescing on sender: the latest of equal strings",
        "coalescing on sender: the latest of equal values of a struct",
        "a handler of asap enqueues idle, coalescing",
        "a handler of asap enqueues now, coalescing",
        "a handler of asap runs the run loop, which posts what waits",
        "now, in a mode that does not fit: posted when one that fits runs",
        "the same while the queue's run loop waits: wakes it",
        "a queue goes when its owner lets go of it",
    ]

    /// Printed once for all tests.
    private static let printed = Task { try await Shell.run("notify-demo doctor --queues --markdown") }

    private static func rows() async throws -> [Row] {
        let outcome = try await printed.value
        return try outcome.output.split(separator: "\n").dropFirst(2).map { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            try #require(cells.count == 4, "\(line)\(outcome.errors)")
            return Row(
                claim: cells[0], fact: cells[1].isEmpty ? nil : cells[1], foundation: cells[2], postingQueue: cells[3])
        }
    }

    @Test("this package's queue keeps every one")
    func ours() async throws {
        let rows = try await Self.rows()
        #expect(rows.count > 40)
        for row in rows where row.postingQueue != "kept" {
            Issue.record("\(row.claim): \(row.postingQueue)")
        }
        #expect(try await Self.printed.value.status == .exited(0))
    }

    @Test("Foundation's breaks those that it was known to break, and those found since, and keeps the rest")
    func foundation() async throws {
        let rows = try await Self.rows()
        let broken = rows.filter { $0.foundation != "kept" }
        #expect(Set(broken.compactMap(\.fact)) == ["F5", "F6", "F7", "F8", "F9"])
        for row in rows where row.foundation == "kept" {
            #expect(row.fact == nil, "\(row.claim): Foundation's queue keeps it now")
        }
        #expect(Set(broken.filter { $0.fact == nil }.map(\.claim)) == Self.found)
    }

    @Test("the README's table is the one that is printed")
    func readme() async throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let readme = try String(contentsOf: root.appending(component: "README.md"), encoding: .utf8)
        let section = try #require(
            readme.components(separatedBy: "### Foundation's queue on Linux\n").dropFirst().first)
        let shown = section.split(separator: "\n").drop { !$0.hasPrefix("|") }.prefix { $0.hasPrefix("|") }
        let printed = try await Self.printed.value.output.split(separator: "\n")
        // notify-demo doctor --queues --markdown prints what should be there.
        #expect(shown.count == printed.count)
        for (shown, printed) in zip(shown, printed) { #expect(shown == printed) }
    }
}
