internal import DeliveryDiagnostics

extension ExaminationReport {
    /// One fact as JSON: one line of the output of `doctor --json`.
    fileprivate struct Line: Encodable {
        struct Answer: Encodable {
            var kept: Bool
            var observed: String
            var expected: String
        }
        struct Question: Encodable {
            var name: String
            var claim: String
            var sentence: String?
            var foundation: Answer
            var ours: Answer?
            var noCounterpart: String?
        }
        var fact: String
        var area: String
        var expected: String
        var questions: [Question]
    }

    /// Returns one line of JSON for each fact.
    package func jsonLines() throws -> [String] {
        return try rows.map { row in
            let questions = row.findings.map { finding in
                Line.Question(
                    name: finding.name, claim: finding.claim, sentence: finding.sentence,
                    foundation: Line.Answer(finding.foundation, expected: finding.expected),
                    ours: finding.ours.map { Line.Answer($0, expected: finding.expectedOfOurs) },
                    noCounterpart: finding.reason)
            }
            let line = Line(fact: row.number, area: row.area, expected: row.expected, questions: questions)
            return try JSONText.of(line)
        }
    }
}

extension ExaminationReport.Line.Answer {
    fileprivate init(_ answer: TrialAnswer, expected: String) {
        self.init(kept: answer.verdict == .kept, observed: answer.observed, expected: expected)
    }
}
