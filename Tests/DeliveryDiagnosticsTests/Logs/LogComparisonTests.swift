import DeliveryRecording
import Testing

@testable import DeliveryDiagnostics

@Suite("Comparing logs")
struct LogComparisonTests {
    private func compare(_ first: String, _ second: String) throws -> LogComparison.Outcome {
        try LogComparison.compare(LogReader(name: "A", text: first), LogReader(name: "B", text: second))
    }

    private func reason(_ first: String, _ second: String) throws -> LogDifference.Reason? {
        guard case .different(let difference) = try compare(first, second) else { return nil }
        return difference.reason
    }

    /// Makes a log from lines of the form "process:thread message".
    private func log(_ lines: String...) -> String {
        lines.map { "2026-11-20 22:05:12.856 p[" + $0.replacing(" ", with: "] ", maxReplacements: 1) + "\n" }.joined()
    }

    @Test("each document's log equals itself and differs from the others")
    func documents() throws {
        for one in ReferenceLog.allCases {
            for other in ReferenceLog.allCases {
                let outcome = try LogComparison.compare(LogReader(one), LogReader(other))
                if one == other {
                    #expect(outcome == .same(lines: 3, threads: one == .listing2 ? 1 : 2))
                } else {
                    guard case .different = outcome else {
                        Issue.record("\(one) and \(other) are said to be the same")
                        continue
                    }
                }
            }
        }
    }

    @Test("times, process names, process ids, thread ids and thread numbers may differ")
    func renaming() throws {
        let renamed = """
            2026-11-20 01:02:03.004 other name[7:7] current thread = {number = 1, name = main}
            2026-11-20 01:02:03.004567+0100 other name[7:1f] current thread = <NSThread: 0x600>{number = 9, name = (null)}
            2026-11-20 01:02:03.004 other name[7:1f] test notification

            """
        #expect(try compare(ReferenceLog.listing1.text, renamed) == .same(lines: 3, threads: 2))
    }

    @Test("GNUstep's numbers are kernel ids, and its main thread has the process id")
    func gnustep() throws {
        let gnustep = """
            2026-11-20 01:02:03.004 test[7304:7304] current thread = <NSThread: 0x55>{name = (null), num = 7304}
            2026-11-20 01:02:03.004 test[7304:7305] current thread = <NSThread: 0x66>{name = (null), num = 7305}
            2026-11-20 01:02:03.004 test[7304:7305] test notification

            """
        #expect(try compare(ReferenceLog.listing1.text, gnustep) == .same(lines: 3, threads: 2))
    }

    @Test("another thread is a difference, whichever log has more threads")
    func threads() throws {
        #expect(
            try reason(log("1:1 a", "1:2 b"), log("1:1 a", "1:1 b"))
                == .thread(.init(firstSeen: nil, secondSeen: 1)))
        #expect(
            try reason(log("1:1 a", "1:1 b"), log("1:1 a", "1:2 b"))
                == .thread(.init(firstSeen: 1, secondSeen: nil)))
        #expect(
            try reason(log("1:1 a", "1:2 b", "1:1 c"), log("1:1 a", "1:2 b", "1:2 c"))
                == .thread(.init(firstSeen: 1, secondSeen: 2)))
    }

    @Test("another process is a difference even with the same thread id")
    func processes() throws {
        #expect(
            try reason(log("1:1 a", "2:1 b"), log("1:1 a", "1:1 b"))
                == .process(.init(firstSeen: nil, secondSeen: 1)))
    }

    @Test("a thread number that corresponds to two threads is a difference")
    func numbers() throws {
        #expect(
            try reason(
                log("1:1 {number = 2, name = w}", "1:1 {number = 3, name = w}"),
                log("1:1 {number = 2, name = w}", "1:1 {number = 2, name = w}"))
                == .threadNumber(.init(firstSeen: nil, secondSeen: 1)))
    }

    @Test("a kernel id in a message refers to the thread that writes with it")
    func kernelIDs() throws {
        #expect(
            try reason(log("1:5 {name = w, num = 5}"), log("1:5 {name = w, num = 6}"))
                == .threadNumber(.init(firstSeen: 1, secondSeen: nil)))
    }

    @Test("line numbers include comments")
    func lineNumbers() throws {
        let first = "# one\n# two\n" + log("1:1 a", "1:2 b", "1:1 c")
        guard case .different(let difference) = try compare(first, log("1:1 a", "1:2 b", "1:2 c")) else {
            Issue.record("the same")
            return
        }
        #expect(difference.description.hasPrefix("the logs differ\n  A:5  "))
        #expect(difference.description.contains("\n  B:3  "))
        #expect(
            difference.description.hasSuffix(
                "In A the line is written by the thread of line 3, in B by the thread of line 2."))
    }

    @Test("threads that are only mentioned are not counted, and a main thread without a name is main")
    func spokenOf() throws {
        #expect(
            try compare(log("4:4 {name = (null), num = 4}"), log("9:9 {number = 1, name = (null)}"))
                == .same(lines: 1, threads: 1))
        #expect(
            try compare(log("4:4 {name = w, num = 5}"), log("9:9 {name = w, num = 8}"))
                == .same(lines: 1, threads: 1))
        #expect(
            try compare(log("4:4 {number = 2, name = a{b}"), log("9:9 {number = 5, name = a{b}"))
                == .same(lines: 1, threads: 1))
    }

    @Test("the main thread has number 1")
    func mainThread() throws {
        #expect(try reason(log("1:1 {number = 1, name = w}"), log("1:1 {number = 2, name = w}")) == .message)
    }

    @Test("comments, carriage returns and a byte order mark are ignored")
    func layout() throws {
        let lines = log("1:1 a", "1:2 b")
        let same = "\u{FEFF}# a comment\n" + lines.replacing("\n", with: "\r\n") + "# another\n"
        #expect(try compare(lines, same) == .same(lines: 2, threads: 2))
        #expect(throws: LogError.self) { try compare("# only this\n", lines) }
    }

    @Test("names, texts, order and length are compared")
    func messages() throws {
        #expect(try reason(log("1:1 {number = 1, name = main}"), log("1:1 {number = 1, name = w}")) == .message)
        #expect(try reason(log("1:1 a"), log("1:1 b")) == .message)
        #expect(try reason(log("1:1 a {number = 1, name = main}"), log("1:1 a")) == .message)
        #expect(try reason(log("1:1 {number = 1, name = main}"), log("1:1 main")) == .message)
        #expect(try reason(log("1:1 a", "1:1 b"), log("1:1 a")) == .oneEnds)
        #expect(try reason(log("1:1 a"), log("1:1 a", "1:1 b")) == .oneEnds)
    }

    @Test("a difference shows the line numbers, both lines and the reason")
    func words() throws {
        guard case .different(let difference) = try compare(ReferenceLog.listing2.text, ReferenceLog.listing1.text)
        else {
            Issue.record("the same")
            return
        }
        #expect(
            difference.description == """
                the logs differ at line 2
                  A:2  2016-02-13 23:38:31.663 test[1474:92483] current thread = {number = 1, name = main}
                  B:2  2016-02-13 22:05:12.857 test[865:45174] current thread = {number = 2, name = (null)}
                In A the line is written by the thread of line 1, in B by a thread not seen before.
                """)
    }

    @Test("a log that ends within a line, or early, is described as such")
    func endsEarly() throws {
        let complete = log("1:1 first", "1:1 second")
        guard case .different(let within) = try compare(complete, String(complete.dropLast(3))) else {
            Issue.record("the same")
            return
        }
        #expect(within.description.contains("B ends within this line, without a newline: it may be truncated."))
        guard case .different(let early) = try compare(complete, log("1:1 first")) else {
            Issue.record("the same")
            return
        }
        #expect(early.description.contains("B    (no further line)"))
    }

    @Test("long lines are shown around their difference")
    func longLines() throws {
        let start = String(repeating: "x", count: 5000)
        guard case .different(let difference) = try compare(log("1:1 \(start)a"), log("1:1 \(start)b")) else {
            Issue.record("the same")
            return
        }
        #expect(difference.description.contains("xxxa\n"))
        #expect(difference.description.contains("xxxb\n"))
        #expect(difference.description.count < 500)
    }

    @Test("an empty log is an error")
    func empty() {
        #expect(throws: LogError.self) { try compare("", "") }
    }
}
