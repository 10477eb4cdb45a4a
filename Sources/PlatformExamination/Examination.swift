package import ChildProcesses
internal import DeliveryDiagnostics
internal import DeliveryRecording
internal import Foundation
internal import ThreadedNotifications

/// The answers of this platform's Foundation and of this package to questions. Every output is a function of it.
package struct Examination: Sendable {
    struct Finding: Sendable, Encodable {
        var name, claim: String
        var sentence, fact: String?
        var foundation, ours: Answer

        private enum CodingKeys: CodingKey {
            case name, claim, sentence, foundation, ours
        }
    }

    var findings: [Finding]

    /// Puts questions to Foundation and to this package, each question and side in a process of its own.
    ///
    /// - Parameters:
    ///   - child: gets the name of a question and the side as arguments, calls `Question.ask` and writes the lines.
    ///   - progress: receives the fraction of processes that have ended, on any thread.
    package static func perform(
        _ questions: [Question], in child: ChildProgram, timeout: Duration,
        progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) throws -> Examination {
        let jobs = questions.flatMap { question in Question.Side.allCases.map { (question, $0) } }
        let results = Locked<[Int: Result<Answer, any Error>]>([:])
        // More than the usual number of cores, because the slow processes mostly wait.
        let width = 4
        let slots = MonotonicSemaphore(value: UInt32(width))
        for (index, (question, side)) in jobs.enumerated() {
            slots.wait()
            // Not a dispatch work item: Dispatch runs only as many of them as there are cores.
            Thread.detachNewThread {
                let result = Result { try answer(to: question, of: side, in: child, timeout: timeout) }
                let ended = results.withLock { results in
                    results[index] = result
                    return results.count
                }
                progress(Double(ended) / Double(jobs.count))
                slots.signal()
            }
        }
        for _ in 0..<width { slots.wait() }
        let answers = try results.withLock { $0 }.sorted { $0.key < $1.key }.map { try $0.value.get() }
        return Examination(
            findings: zip(questions, stride(from: 0, to: answers.count, by: 2)).map { question, index in
                Finding(
                    name: question.name, claim: question.claim, sentence: question.sentence, fact: question.fact,
                    foundation: answers[index], ours: answers[index + 1])
            })
    }

    private static func answer(
        to question: Question, of side: Question.Side, in child: ChildProgram, timeout: Duration
    ) throws -> Answer {
        let result = try child.run([question.name, side.rawValue], timeout: timeout)
        let ending: String? =
            switch result.end {
            case .exit(0): nil
            case .exit(let status): "ends with \(status)"
            case .signal(let signal): "ends with signal \(signal)"
            case .timedOut: "hangs"
            }
        let message = message(result.errors).map { ": \($0)" } ?? ""
        let lines = result.output.split(separator: "\n").map(String.init)
        return question.answer(of: side, events: lines, ending: ending.map { $0 + message })
    }

    /// The first line of standard error, without addresses and without its source location.
    static func message(_ errors: String) -> String? {
        errors.split(separator: "\n").first.map { line in
            let parts = line.split(separator: ": ", maxSplits: 2)
            // Swift's messages have the form file:line: Fatal error: text.
            let text = parts.count == 3 && parts[1].hasSuffix("rror") ? parts[2] : line
            // Removes addresses inside a name, in parentheses after a name, and everything after "to 0x".
            let plain = text.replacing("(unknown context at ", with: "(").replacing(/\(\$[0-9a-f]+\)\./, with: "")
                .replacing(/\ \(0x[0-9a-f]+\)/, with: "").replacing(/\ to 0x.*/, with: "")
            return Excerpt.of(String(plain))
        }
    }

    /// The claims that this package does not keep, with the reason.
    package var failures: [(claim: String, reason: String)] {
        findings.filter { !$0.ours.isKept }
            .map { ($0.claim, "\($0.ours.observed) instead of \($0.ours.expected)") }
    }

    private var byFact: [(fact: Fact, findings: [Finding])] {
        Fact.all.map { fact in (fact, findings.filter { $0.fact == fact.number }) }
            .filter { !$0.findings.isEmpty }
    }

    // MARK: Facts as text

    /// Colours the mark of an answer, `ok` or `NO`.
    package typealias Paint = (_ mark: String, _ isKept: Bool) -> String

    /// The facts as text, a few lines for each.
    package func text(width: Int, paint: Paint = { mark, _ in mark }) -> String {
        let blocks = byFact.map { fact, findings in
            Table(
                [.text(width: 3...3), .wrapped()], rows: [[fact.number, "\(fact.area): \(fact.expected)"]]
            ).lines(width: width)
                + zip(findings, sentences(of: findings)).flatMap { finding, sentence in
                    WrappedText.lines(finding.claim, width: width, indent: "     ")
                        + (sentence.map { WrappedText.lines($0, width: width, indent: "       ") } ?? [])
                        + Table(
                            [.text(), .text(), .text(), .wrapped()],
                            rows: [
                                ["     ", "Foundation"] + cells(finding.foundation, paint),
                                ["     ", "ThreadedNotifications"] + cells(finding.ours, paint),
                            ]
                        ).lines(width: width)
                }
        }
        func kept(_ answers: [Answer]) -> String { "\(answers.count(where: \.isKept)) of \(answers.count) as expected" }
        let summary =
            "Foundation here: \(kept(findings.map(\.foundation))). "
            + "ThreadedNotifications: \(kept(findings.map(\.ours)))."
        return (blocks + [WrappedText.lines(summary, width: width)]).joined(separator: [""]).joined(separator: "\n")
    }

    private func cells(_ answer: Answer, _ paint: Paint) -> [String] {
        [paint(answer.isKept ? "ok" : "NO", answer.isKept), answer.observed]
    }

    /// The document's sentence of each finding, in quotation marks. Nil repeats the sentence before.
    private func sentences(of findings: [Finding]) -> [String?] {
        zip(findings, [nil] + findings.map(\.sentence)).map { finding, before in
            finding.sentence == before ? nil : finding.sentence.map { "“\($0)”" }
        }
    }

    // MARK: Promises as text

    /// The claims and verdicts as a Markdown table.
    package var markdown: String {
        var lines = verdicts(ours: "`PostingQueue`").map { "| \($0.joined(separator: " | ")) |" }
        lines.insert("|---|---|---|---|", at: 1)
        return lines.joined(separator: "\n")
    }

    package var verdicts: String { Table.text(verdicts(ours: "PostingQueue")) }

    private func verdicts(ours: String) -> [[String]] {
        func verdict(_ answer: Answer) -> String { answer.isKept ? "kept" : answer.observed }
        return [["promise", "fact", "Foundation's queue", ours]]
            + findings.map { [$0.claim, $0.fact ?? "", verdict($0.foundation), verdict($0.ours)] }
    }

    // MARK: JSON

    private struct FactLine: Encodable {
        var fact, area, expected: String
        var questions: [Finding]
    }

    package func jsonLines() throws -> [String] {
        try byFact.map { fact, findings in
            try JSONText.of(
                FactLine(fact: fact.number, area: fact.area, expected: fact.expected, questions: findings))
        }
    }
}
