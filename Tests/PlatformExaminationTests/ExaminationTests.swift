import ChildProcesses
import Foundation
import SharedTesting
import Synchronization
import Testing

@testable import PlatformExamination

@Suite("An examination")
struct ExaminationTests {
    /// Shell scripts take the place of Foundation and of this package. $0 is the question, $1 the side.
    private static func examine(
        _ questions: [Question], _ script: String, timeout: Duration = TestTimeout.hang
    ) throws -> Examination {
        try Examination.perform(
            questions, in: ChildProgram(path: "/bin/sh", arguments: ["-c", script]), timeout: timeout)
    }

    private static func named(_ names: String...) -> [Question] { Question.all.filter { names.contains($0.name) } }

    @Test("the questions stay in order, and each side answers in a process of its own")
    func order() throws {
        let questions = Array(Question.queues.prefix(10))
        let findings = try Self.examine(questions, "echo 1 $0; echo 2 of $1").findings
        #expect(findings.map(\.question.name) == questions.map(\.name))
        for finding in findings {
            #expect(finding.foundation.observed == "1 \(finding.question.name), 2 of foundation")
            #expect(finding.ours.observed == "1 \(finding.question.name), 2 of ours")
        }
    }

    @Test("a crash, an exit status and a hang are answers")
    func ends() throws {
        let message = "Simultaneous accesses to 0x55d0c8, but"
        for (script, observed) in [
            (
                "echo now; echo '\(message)' >&2; echo more >&2; kill -6 $$",
                "now, then ends with signal 6: Simultaneous accesses"
            ),
            ("echo now; echo problem >&2; exit 3", "now, then ends with 3: problem"), ("exit 3", "ends with 3"),
        ] {
            let findings = try Self.examine(Self.named("removing-twice"), script).findings
            #expect(findings.map(\.foundation.observed) == [observed])
            #expect(findings.map(\.ours.observed) == [observed])
        }
        let hanging = try Self.examine(
            Self.named("typing"), "[ $1 = ours ] || exec sleep 600", timeout: .seconds(1)
        ).findings
        #expect(hanging.map(\.foundation.observed) == ["hangs"])
    }

    @Test("only a claim that this package does not keep is a failure")
    func failures() throws {
        let kept = "echo the other observer is called"
        #expect(try Self.examine(Self.named("removing-twice"), "[ $1 = foundation ] || \(kept)").failures.isEmpty)
        let failures = try Self.examine(Self.named("removing-twice"), "[ $1 = ours ] || \(kept)").failures
        #expect(failures.map(\.claim) == ["a token removed twice removes no other observer"])
        #expect(failures.map(\.reason) == ["nothing instead of the other observer is called"])
    }

    @Test("a program that cannot be started is an error")
    func missing() {
        #expect(throws: ChildProcessError.self) {
            try Examination.perform(Question.queues, in: ChildProgram(path: "/nonexistent"), timeout: TestTimeout.hang)
        }
    }

    @Test("the progress reaches 1")
    func progress() throws {
        let fractions = Mutex<Set<Double>>([])
        _ = try Examination.perform(
            Self.named("typing", "dequeue"), in: ChildProgram(path: "/bin/true"), timeout: TestTimeout.hang,
            progress: { fraction in _ = fractions.withLock { $0.insert(fraction) } })
        #expect(fractions.withLock { $0 } == [0.25, 0.5, 0.75, 1])
    }

    @Test("a message is the first line of the errors, without addresses, source location and control characters")
    func messages() {
        for (errors, message) in [
            ("", nil), ("problem\nmore\n", "problem"),
            ("Foundation/Port.swift:24: Fatal error: must be overridden\n", "must be overridden"),
            (
                "Could not cast value of type 'A.(unknown context at $55e4c0).B' (0x7f1c) to 'C' (0x7f1d).\n",
                "Could not cast value of type 'A.B' to 'C'."
            ),
            ("\u{1B}[2J\n", "\\u{1B}[2J"),
        ] {
            #expect(Examination.message(errors) == message)
        }
    }

    // MARK: Output

    private static let examination = Examination(findings: [
        .init(
            question: named("removing-twice")[0],
            foundation: Answer(isKept: false, observed: "removed", expected: "called"),
            ours: Answer(isKept: true, observed: "called", expected: "called")),
        .init(
            question: named("custom-mode-now")[0],
            foundation: Answer(
                isKept: false, observed: "ends with signal 6: a long word, and another, and yet another one",
                expected: "now"),
            ours: Answer(isKept: true, observed: "now", expected: "now")),
        .init(
            question: named("equal-senders")[0], foundation: Answer(isKept: true, observed: "a", expected: "a"),
            ours: Answer(isKept: true, observed: "a", expected: "a")),
    ])

    @Test("a narrow terminal shows a few lines for each fact")
    func narrow() {
        #expect(
            Self.examination.text(width: 72) == """
                F2   NotificationCenter: removing a token twice is harmless
                     a token removed twice removes no other observer
                       Foundation             NO  removed
                       ThreadedNotifications  ok  called

                F4   NotificationCenter: observers are matched by sender
                     an observer of a sender that is a value is called for an equal one
                       “If you specify only an object, the observer will receive all
                       notifications containing that object.”
                       Foundation             ok  a
                       ThreadedNotifications  ok  a

                Foundation here: 1 of 3 as expected. ThreadedNotifications: 3 of 3 as
                expected.
                """)
    }

    @Test("a wide terminal shows a table")
    func wide() {
        #expect(
            Self.examination.text(width: 140) == """
                fact  area                expected                                      Foundation here      ThreadedNotifications

                F2    NotificationCenter  a token removed twice removes no other    NO  removed          ok  called
                                          observer

                F4    NotificationCenter  an observer of a sender that is a value   ok  a                ok  a
                                          is called for an equal one
                                          “If you specify only an object, the
                                          observer will receive all notifications
                                          containing that object.”

                Foundation here: 1 of 3 as expected. ThreadedNotifications: 3 of 3 as expected.
                """)
    }

    @Test("colour does not move text, and no line exceeds the width")
    func colours() {
        let examination = Examination(
            findings: Question.all.map { question in
                let text = "\(question.name) and a number of words that is more than a cell has room for"
                return .init(
                    question: question, foundation: Answer(isKept: false, observed: text, expected: ""),
                    ours: Answer(isKept: true, observed: text, expected: ""))
            })
        for width in [60, 80, 131, 132, 200] {
            let plain = examination.text(width: width)
            for line in plain.split(separator: "\n") { #expect(line.count <= width, "\(line)") }
            let painted = examination.text(width: width) { "\u{1B}[\($1 ? 32 : 31)m\($0)\u{1B}[0m" }
            #expect(painted != plain)
            #expect(painted.replacing(/\u{1B}\[[0-9]+m/, with: "") == plain)
        }
    }

    @Test("JSON has a line for each fact")
    func json() throws {
        let lines = try Self.examination.jsonLines()
        #expect(lines.count == 2)
        #expect(
            lines.first == """
                {"area":"NotificationCenter","expected":"removing a token twice is harmless","fact":"F2","questions":\
                [{"claim":"a token removed twice removes no other observer","foundation":{"expected":"called","kept":\
                false,"observed":"removed"},"name":"removing-twice","ours":{"expected":"called","kept":true,\
                "observed":"called"}}]}
                """)
        #expect(lines.last?.contains(#""sentence":"If you specify only an object"#) == true)
    }

    @Test("promises are printed as Markdown and as text")
    func promises() {
        let promises = Examination(findings: [Self.examination.findings[0]])
        #expect(
            promises.markdown == """
                | promise | fact | Foundation's queue | `PostingQueue` |
                |---|---|---|---|
                | a token removed twice removes no other observer | F2 | removed | kept |
                """)
        #expect(
            promises.verdicts == """
                promise                                          fact  Foundation's queue  PostingQueue
                a token removed twice removes no other observer  F2    removed             kept
                """)
    }
}
