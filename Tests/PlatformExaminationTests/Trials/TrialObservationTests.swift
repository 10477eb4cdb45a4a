import ChildProcesses
import Testing

@testable import PlatformExamination
@testable import Scenarios

@Suite("The description of a trial is a function of its process's output and end")
struct TrialObservationTests {
    private func observation(
        _ output: String, _ end: ChildProcess.End = .exit(0), errors: String = ""
    ) -> TrialObservation {
        TrialObservation(ChildProgram.Result(processID: 1, end: end, output: output, errors: errors))
    }

    @Test("each line is an event, and the text after a tab is its detail")
    func events() {
        let seen = observation("post returns\tafter 3 ms\nhandled\n")
        #expect(seen.events == [TrialEvent("post returns", detail: "after 3 ms"), TrialEvent("handled")])
        #expect("\(seen)" == "post returns (after 3 ms), handled")
        #expect(seen.events.map(\.line) == ["post returns\tafter 3 ms", "handled"])
    }

    @Test(
        "the end of the process follows the events",
        arguments: [
            ("", ChildProcess.End.exit(0), "", "nothing"),
            ("", .exit(3), "", "ends with 3"),
            ("1\n", .exit(3), "problem\n", "1, then ends with 3: problem"),
            ("", .signal(11), "", "ends with signal 11"),
            (
                "1\n", .signal(6), "Simultaneous accesses to 0x55d0c8, but\nmore\n",
                "1, then ends with signal 6: Simultaneous accesses"
            ),
            (
                "", .signal(4), "Foundation/Port.swift:24: Fatal error: must be overridden\n",
                "ends with signal 4: must be overridden"
            ),
            (
                "", .signal(6),
                "Could not cast value of type 'A.(unknown context at $55e4c0).B' (0x7f1c) to 'C' (0x7f1d).\n",
                "ends with signal 6: Could not cast value of type 'A.B' to 'C'."
            ),
            ("", .signal(6), "\u{1B}[2J\n", "ends with signal 6: \\u{1B}[2J"),
        ])
    func ends(output: String, end: ChildProcess.End, errors: String, description: String) {
        #expect("\(observation(output, end, errors: errors))" == description)
    }

    @Test("verdicts ignore details, and descriptions show them")
    func details() {
        let expected = TrialExpectation(events: ["1", "2"])
        #expect(expected.verdict(on: observation("1\ta\n2\tb\n")) == .kept)
        #expect(expected.verdict(on: observation("2\ta\n1\n")) == .broken("2 (a), 1"))
        #expect(expected.verdict(on: observation("1\n2\n", .exit(1))) == .broken("1, 2, then ends with 1"))
    }
}
